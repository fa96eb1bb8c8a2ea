/** Two texts, or a unified diff of one or more files. */
export type DiffSource = { before: string; after: string } | { patch: string }
