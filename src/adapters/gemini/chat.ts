import { type Json, objectIn, record, text } from '../../transcript/json.ts'
import { geminiAnswerUsage } from '../../transcript/usage.ts'
import { AnswersUsed } from '../answers-used.ts'
import { most, type Used } from '../cli-lines.ts'

/**
 * What the chat file of gemini tells: a log of messages by id, and of patches. A message is written again when its tools are done,
 * with the same counts. Patches repeat old messages, with or without theirs: they count nothing.
 */

const MOST_OLD = 100_000

export class Chat {
  readonly #answers = new AnswersUsed()
  readonly #old = new Set<string>()

  usage(): Used | null {
    return this.#answers.usage()
  }

  before(line: string): void {
    const answer = answerIn(line)
    if (answer && this.#old.size < MOST_OLD) this.#old.add(answer.id)
  }

  /** Earlier answers are of earlier runs. Times are ISO, all in UTC. */
  left(line: string, begunAt: string): void {
    const answer = answerIn(line)
    if (answer && answer.at !== null && answer.at >= begunAt) this.written(line)
  }

  written(line: string): void {
    const answer = answerIn(line)
    if (!answer || this.#old.has(answer.id)) return
    const tokens = geminiAnswerUsage(answer.tokens)
    const before = this.#answers.get(answer.id)
    // The agent can write to the file: what an answer has used does not become less.
    this.#answers.set(answer.id, {
      model: before?.model ?? answer.model,
      tokens: before ? most(before.tokens, tokens) : tokens,
    })
  }
}

interface Told {
  id: string
  at: string | null
  model: string | null
  tokens: Json
}

function answerIn(line: string): Told | null {
  if (!line.includes('"gemini"') || !line.includes('"tokens"')) return null
  const message = objectIn(line)
  const id = text(message?.id)
  if (message?.type !== 'gemini' || id === null) return null
  return { id, at: text(message.timestamp), model: text(message.model), tokens: record(message.tokens) }
}
