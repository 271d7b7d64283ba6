/** Files that are imported as texts. */
declare module '*.conf' {
  const text: string;
  export default text;
}
declare module '*.cfg' {
  const text: string;
  export default text;
}
declare module '*/Caddyfile' {
  const text: string;
  export default text;
}
