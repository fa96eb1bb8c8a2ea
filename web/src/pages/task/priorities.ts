export const PRIORITIES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const

/** The key of a priority: 0 stands for 10. */
export const keyOfPriority = (priority: number) => String(priority % 10)
