/** What types of agents are called, and what they are. Pure. */

interface AdapterWords {
  name: string
  text: string
}

const WORDS: Readonly<Record<string, AdapterWords>> = {
  claude_local: { name: 'Claude Code', text: 'The program claude, on this machine.' },
  codex_local: { name: 'Codex', text: 'The program codex, on this machine.' },
  gemini_local: { name: 'Gemini', text: 'The program gemini, on this machine.' },
  opencode_local: { name: 'OpenCode', text: 'The program opencode, on this machine.' },
  process: {
    name: 'Program or script',
    text: 'Any program of yours. It reads its task, and prints the result.',
  },
  http: { name: 'Service', text: 'A service that takes its tasks over HTTP.' },
  simulated: { name: 'Simulation', text: 'Plays steps that you write. No model, no cost.' },
  external: { name: 'External', text: 'It runs elsewhere and fetches its own work.' },
  command: { name: 'Checks', text: 'Runs the commands that verify results.' },
}

/** The name of a type; one of a plugin is called as it calls itself. */
export const adapterName = (type: string): string => WORDS[type]?.name ?? type.replaceAll('_', ' ')
export const adapterText = (type: string): string => WORDS[type]?.text ?? 'An adapter of this server.'
