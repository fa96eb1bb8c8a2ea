import { type Ajv, AjvCompiler, type BuildCompilerFromPool as Build } from '@fastify/ajv-compiler'
import { underNewNames } from '../pure/budget.ts'
import { RequestSchema } from './schema.ts'

/**
 * Validators as Fastify makes them, each compiled when a request first needs it: to compile those of all routes takes most
 * of the time of a start. Answers are serialized as they are: compiled from their schemas they would lose fields and gain
 * nothing (decision 0028).
 */
export function compilers() {
  const build: Build = AjvCompiler()
  const known = new WeakMap<RequestSchema, Validate>()
  const buildValidator: Build = (schemas, options) => {
    const onCreate = (ajv: Ajv) => {
      readOldNames(ajv)
      options?.onCreate?.(ajv)
    }
    const compile = build(schemas, { ...options, onCreate } as typeof options)
    return (of) =>
      whenFirstUsed(() => {
        const part = of as unknown as Part
        const { schema } = part
        if (!(schema instanceof RequestSchema)) return compile(of)
        const validate = known.get(schema) ?? compile({ ...part, schema: schema.json() })
        known.set(schema, validate)
        return validate
      })
  }
  return { buildValidator, buildSerializer: () => () => JSON.stringify }
}

/** Handlers get fields that came under old names under the new ones. It is the last rule of an object: refusals name what was sent. */
function readOldNames(ajv: Ajv): void {
  ajv.addKeyword({
    ...{ keyword: 'oldNames', type: 'object', schemaType: 'object', modifying: true, errors: true },
    compile(names: Record<string, string>) {
      const read = (given: object) => {
        const twice = underNewNames(given, names)
        // Ajv reads them from the function that it called.
        if (twice) read.errors = [{ keyword: 'oldNames', params: twice, message: twice.message }]
        return twice === null
      }
      read.errors = [] as { keyword: string; params: object; message: string }[]
      return read
    },
  })
}

type Compile = ReturnType<Build>
type Validate = ReturnType<Compile>
/** A part of a request, as Fastify passes it; the types of its compiler say that it is the schema itself. */
type Part = { schema: unknown }

function whenFirstUsed(compile: () => Validate): Validate {
  let compiled: Validate | undefined
  const validate = (data: unknown) => {
    compiled ??= compile()
    const answer = compiled(data)
    // Fastify reads them from the function that it called.
    validate.errors = compiled.errors
    return answer
  }
  validate.errors = null as Validate['errors']
  return validate as Validate
}
