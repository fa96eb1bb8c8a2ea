import type { InboxItem } from './kinds.ts'

/** Names of what is written about an item and not sent yet. An answer may be written on the page of its task as well. */
export const answerDraft = ({ about, generation }: Pick<InboxItem, 'about' | 'generation'>) =>
  `answer:${about.taskId}:${generation}`
export const budgetDraft = ({ id }: Pick<InboxItem, 'id'>) => `budget:${id}`
