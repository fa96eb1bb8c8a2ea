/** The name of the node that runs programs. */
export const NODE = 'here'

/** A server that a benchmark talks to, with a key of its workspace. */
export interface Served {
  url: string
  key: string
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would
type Answer = any

export async function callApi(
  { url, key }: Served,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) ?? null })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Runs a program as an agent of that node to its end, with the number of lines that it shall print in LINES; the id of its run. */
export async function runProgram(served: Served, program: string, lines: number): Promise<string> {
  const adapterConfig = {
    ...{ command: process.execPath, args: ['--eval', program], env: { LINES: String(lines) } },
  }
  const runtimeConfig = { node: NODE, watch: { silentSec: 0 } }
  // It gets no other work: tasks that wait there would each have a run, and its own would never be the last.
  const settings = { adapterType: 'process', adapterConfig, runtimeConfig, coordinatorEnabled: false }
  await callApi(served, 'PUT', '/agents/dev', settings)
  const { wakeup } = await callApi(served, 'POST', '/agents/dev/wakeup', {})
  for (;;) {
    const { items } = await callApi(served, 'GET', '/agents/dev/runs?limit=1')
    if (items[0]?.wakeupId === wakeup.id && items[0].finishedAt !== null) return items[0].id
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
