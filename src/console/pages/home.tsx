/** What `/` shows. */
export function Home() {
  return <h1>flagmeter</h1>;
}
