import { explainAct } from './explain.ts'
import { toast } from './toasts.tsx'

/** A refusal at the edge of the page, in the words of the server. */
export function showRefusal(error: unknown): void {
  const { title, detail } = explainAct(error)
  toast({ kind: 'bad', title, text: detail })
}

/** Whether it was done; a refusal is shown. */
export const whetherDone = (done: Promise<unknown>): Promise<boolean> =>
  done.then(
    () => true,
    (error) => {
      showRefusal(error)
      return false
    },
  )
