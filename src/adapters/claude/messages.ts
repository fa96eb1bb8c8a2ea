import type { Json } from '../../transcript/json.ts'
import { claudeUsage, type Tokens } from '../../transcript/usage.ts'
import { AnswersUsed } from '../answers-used.ts'
import { most, type Used } from '../cli-lines.ts'

/**
 * What the messages of a run have used. A line of a message tells its input, and a placeholder for its output. What it really used is
 * told by the stream when the message is complete, and by the session file a little later.
 */

export interface Message {
  id: string
  model: string | null
  usage: Json
}

interface Known {
  model: string | null
  speaker: string
  /** As its first lines tell it. */
  usage: Json
  /** How many results had come before it. */
  turn: number
  isComplete: boolean
}

/** The agent itself, or one of its subagents. */
interface Speaker {
  /** Its complete messages are told somewhere: until they are, they do not count. */
  isExact: boolean
  /** The message that it is streaming. */
  streaming: string | null
  /** Messages that count by their placeholder. */
  placeholders: Set<string>
}

const MOST_MESSAGES = 50_000
/** The file may be read before the output that shows the message. */
const MOST_UNSEEN = 1_000

export class MessagesUsed {
  readonly #all = new AnswersUsed()
  /** Those after the last result. */
  #recent = new AnswersUsed()
  #turn = 0
  readonly #known = new Map<string, Known>()
  readonly #speakers = new Map<string, Speaker>()
  readonly #unseen = new Map<string, Message>()

  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  usage(): Used | null {
    return this.#all.usage()
  }

  recentUsage(): Used | null {
    return this.#recent.usage()
  }

  /** Its stream begins: how it ends will tell what it used. */
  began(speaker: string, message: Message): void {
    this.#exact(speaker).streaming = message.id
    this.#see(speaker, message)
  }

  /** Its stream tells what it used. Some versions do not name the message, or only its output. */
  completed(speaker: string, id: string | null, usage: Json): void {
    const streaming = id ?? this.#speaker(speaker).streaming
    const known = streaming === null ? undefined : this.#known.get(streaming)
    if (!known) return
    const told = Object.entries(usage).filter(([, figure]) => figure != null)
    this.#complete(streaming!, known, claudeUsage({ ...known.usage, ...Object.fromEntries(told) }))
  }

  /** A line of it: its output is a placeholder. */
  shown(speaker: string, message: Message): void {
    const known = this.#see(speaker, message)
    if (known.isComplete || this.#speaker(speaker).isExact) return
    known.usage = message.usage
    this.#speaker(speaker).placeholders.add(message.id)
    this.#set(message.id, known, claudeUsage(message.usage))
  }

  /** The session file has it. Only what the output has shown counts: in a fork the file has the messages of the parent, too. */
  written(message: Message): void {
    const known = this.#known.get(message.id)
    if (!known) {
      const [oldest] = this.#unseen.keys()
      if (this.#unseen.size >= MOST_UNSEEN && oldest !== undefined) this.#unseen.delete(oldest)
      this.#unseen.set(message.id, message)
      return
    }
    this.#exact(known.speaker)
    // The same again for each part of it.
    if (known.isComplete) return
    this.#complete(message.id, known, most(claudeUsage(known.usage), claudeUsage(message.usage)))
  }

  /** A result told what all messages so far have used. */
  summedUp(): void {
    this.#turn++
    this.#recent = new AnswersUsed()
  }

  #see(speaker: string, { id, model, usage }: Message): Known {
    const before = this.#known.get(id)
    if (before) return before
    const known: Known = { model, speaker, usage, turn: this.#turn, isComplete: false }
    const [oldest] = this.#known.keys()
    if (this.#known.size >= MOST_MESSAGES && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(id, known)
    const written = this.#unseen.get(id)
    if (written) this.written(written)
    this.#unseen.delete(id)
    return known
  }

  #complete(id: string, known: Known, tokens: Tokens): void {
    known.isComplete = true
    this.#speaker(known.speaker).placeholders.delete(id)
    this.#set(id, known, tokens)
  }

  #set(id: string, { model, turn }: Known, tokens: Tokens): void {
    this.#all.set(id, { model, tokens })
    if (turn === this.#turn) this.#recent.set(id, { model, tokens })
  }

  #speaker(name: string): Speaker {
    const speaker = this.#speakers.get(name) ?? { isExact: false, streaming: null, placeholders: new Set() }
    this.#speakers.set(name, speaker)
    return speaker
  }

  /** From here on its messages count when they are complete. */
  #exact(name: string): Speaker {
    const speaker = this.#speaker(name)
    if (speaker.isExact) return speaker
    speaker.isExact = true
    for (const id of speaker.placeholders) {
      this.#all.remove(id)
      this.#recent.remove(id)
    }
    speaker.placeholders.clear()
    return speaker
  }
}
