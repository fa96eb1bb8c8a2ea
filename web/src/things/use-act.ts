import { useMutation } from '@tanstack/react-query'
import type { Right } from '../../../src/pure/rights.ts'
import { showRefusal } from '../parts/show-refusal.ts'
import { toast } from '../parts/toasts.tsx'
import { useSession } from '../requests/session.ts'

type Toast = Parameters<typeof toast>[0]

/** Says that it was done: a sentence, a whole toast, or nothing, where the page shows it. */
type Done<Asked, Answer> = string | ((answer: Answer, asked: Asked) => string | Toast | undefined)

interface Options<Asked> {
  /** What it needs: operating, unless it says otherwise. */
  right?: Right
  /** In place of a toast with the refusal, where the page shows it. */
  onRefused?: (error: Error, asked: Asked) => unknown
}

/** An act of a person: sent once, and its outcome said in words. `whyNot` is why this user may not do it. */
export function useAct<Answer, Asked = void>(
  send: (asked: Asked) => Promise<Answer>,
  done: Done<Asked, Answer>,
  { right = 'operate', onRefused = showRefusal }: Options<Asked> = {},
) {
  const { whyNot } = useSession()
  const { mutate, isPending, variables, error, reset } = useMutation({
    mutationFn: send,
    onSuccess: (answer, asked) => {
      const said = typeof done === 'string' ? done : done(answer, asked)
      if (said !== undefined) toast({ kind: 'done', ...(typeof said === 'string' ? { title: said } : said) })
    },
    onError: onRefused,
  })
  return { run: mutate, isBusy: isPending, asked: variables, error, reset, whyNot: whyNot(right) }
}

/** For `onRefused` of a form: it shows the refusal at its fields. */
export const shownInPlace = () => undefined
