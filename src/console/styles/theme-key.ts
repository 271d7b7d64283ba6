/** Key under which the browser stores the chosen theme. */
export const themeKey = 'flagmeter-theme';
