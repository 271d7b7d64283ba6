/** The icon of every page: three bars at a flagpole. */
export const icon =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 24 24%22 fill=%22none%22 ' +
  'stroke=%22%235b6ee6%22 stroke-width=%223%22 stroke-linecap=%22round%22%3E' +
  '%3Cpath d=%22M4 3v18M9 5h11M9 10h7M9 15h3%22/%3E%3C/svg%3E';
