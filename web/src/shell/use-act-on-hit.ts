import { showRefusal } from '../parts/show-refusal.ts'
import { toast } from '../parts/toasts.tsx'
import { api } from '../requests/api.ts'
import { useTaskActs } from '../requests/use-task-acts.ts'
import type { Hit, Verb } from './palette-words.ts'

/** Pauses, resumes or retries what the palette found, and says the outcome. */
export function useActOnHit(): (verb: Verb, hit: Hit) => void {
  const tasks = useTaskActs()
  const onTask = async (act: Verb, id: string) => {
    const { kind, words } = await tasks.run({ act }, [id])
    toast({ kind: kind === 'done' ? 'done' : 'bad', title: kind === 'done' ? `${words}.` : words })
  }
  return (verb, { kind, id, title }) => {
    if (kind === 'task') return void onTask(verb, id)
    const sent = kind === 'agent' ? onAgent(verb, id) : onMission(verb, id)
    const name = kind === 'agent' ? id : title
    sent.then(() => toast({ kind: 'done', title: `${name} ${DONE[verb]}.` }), showRefusal)
  }
}

const DONE: Record<Verb, string> = {
  pause: 'is paused',
  resume: 'was resumed',
  retry: 'does its failed tasks again',
}

const onMission = (verb: Verb, id: string) => {
  const params = { id }
  if (verb === 'pause') return api().post('/missions/:id/pause', { params })
  return verb === 'resume'
    ? api().post('/missions/:id/resume', { params })
    : api().post('/missions/:id/retry', { params })
}

const onAgent = (verb: Verb, id: string) =>
  verb === 'pause'
    ? api().post('/agents/:id/pause', { params: { id } })
    : api().post('/agents/:id/resume', { params: { id } })
