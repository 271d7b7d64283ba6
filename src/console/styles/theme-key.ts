/** Key of the chosen theme in the storage of the browser. */
export const themeKey = 'flagmeter-theme';
