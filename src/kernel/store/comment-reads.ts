/** The comments of a task or of a mission, by its number. */
export interface Thread {
  on: 'task' | 'mission'
  id: number
}

export interface StoredComment {
  id: number
  uuid: string
  on: Thread['on']
  text: string
  author: string
  at: number
  replyTo: string | null
}

export interface UnreadComments {
  /** The newest, oldest first. */
  comments: StoredComment[]
  /** How many there are. */
  total: number
  /** The last of each thread; null: none. */
  upTo: { task: number | null; mission: number | null }
}

export interface CommentReads {
  /** Oldest first. The order in a thread is that of commits: nothing is added before what was read. */
  list(workspaceId: number, thread: Thread, after: number, limit: number): Promise<StoredComment[]>
  /** The number of a comment of this thread. */
  find(workspaceId: number, thread: Thread, uuid: string): Promise<number | null>
  /** Those of a task and of its mission that no prompt of a successful run of the task contained. */
  unread(
    workspaceId: number,
    task: { id: number; missionId: number | null },
    limit: number,
  ): Promise<UnreadComments>
}
