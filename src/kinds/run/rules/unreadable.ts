/**
 * How the summary of a run begins that succeeded without a result, though some of its output began like JSON and could not be
 * read. It is shown on the page of the run, and on the card of its task.
 */
export const WITHOUT_RESULT = 'Done without a result: '

export const withoutResult = (unreadable: number): string =>
  `${WITHOUT_RESULT}${unreadable === 1 ? '1 line' : `${unreadable} lines`} could not be read`
