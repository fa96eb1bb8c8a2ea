/** Messages between the nodes of a database. All are hints: a node that needs an answer asks again, or reads the database. */
export type NodeMessage =
  /** An agent that answers later has sent a message for this run. */
  | { callback: { workspaceId: number; runId: string } }
  /** The sender has readers of the output of these runs; null: of all in the workspace. For a while, or until its next such message. */
  | { follows: { workspaceId: number; runs: readonly string[] | null } }
  /** Who follows what? The sender has just begun to listen. */
  | { whoFollows: true }
  /** There is output of these runs in the tail. */
  | { output: { workspaceId: number; runs: readonly string[] } }
  /** The sender needs a page of a log that it cannot read. */
  | { asks: { id: string; workspaceId: number; runId: string; offset: number; limitBytes: number } }
  /** The page that was asked for is in the tail. */
  | { answers: { id: string } }

/** Null: messages may have been missed. */
export type OnNodeMessage = (message: NodeMessage | null, from?: string) => void
