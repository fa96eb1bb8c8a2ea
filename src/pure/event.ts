import { z } from 'zod'

/** The severity of a log entry (Mosaic's levels), lowest first. */
export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What the events of a type are about. */
interface Subject<Entity extends string | null> {
  /** Null: the task or the mission that the event carries, else the workspace. */
  readonly entity: Entity
  /** The field of the payload that has its id. Tasks and missions are named by the event itself, the workspace needs no name. */
  readonly namedIn?: string
}

/** All that is said about one type of event. */
export interface EventSpec<
  Fields extends z.ZodRawShape = z.ZodRawShape,
  Entity extends string | null = string | null,
> {
  readonly about: Subject<Entity>
  readonly payload: z.ZodObject<Fields>
  readonly level: LogLevel
  /** What happened, for logs. Never a task's input, result or checkpoint: logs travel far. */
  sentence(payload: z.output<z.ZodObject<Fields>>): string
}

/**
 * States event types about one kind of thing, a function for each level: `event.info({ its own fields }, its sentence)`. All of them
 * have the fields `shared`.
 */
export function eventsAbout<const Entity extends string | null, Shared extends z.ZodRawShape>(
  about: Subject<Entity> & { readonly namedIn?: keyof Shared & string },
  shared: Shared,
) {
  const at =
    (level: LogLevel) =>
    <Own extends z.ZodRawShape>(
      own: Own,
      sentence: (payload: z.output<z.ZodObject<Shared & Own>>) => string,
    ): EventSpec<Shared & Own, Entity> => ({
      about,
      payload: z.object<Shared & Own>({ ...shared, ...own }),
      level,
      sentence,
    })
  return {
    debug: at('DEBUG'),
    info: at('INFO'),
    warn: at('WARN'),
    error: at('ERROR'),
    critical: at('CRITICAL'),
  }
}

export const text = z.string()
