import { AjvCompiler, type BuildCompilerFromPool as Build } from '@fastify/ajv-compiler'

type Validate = ReturnType<ReturnType<Build>>

/**
 * Validators as Fastify makes them, each compiled when a request first needs it: to compile those of all routes takes most
 * of the time of a start. Answers are serialized as they are: compiled from their schemas they would lose fields and gain
 * nothing (decision 0028).
 */
export function compilers() {
  const build: Build = AjvCompiler()
  const buildValidator: Build = (schemas, options) => {
    const compile = build(schemas, options)
    return (of) => whenFirstUsed(() => compile(of))
  }
  return { buildValidator, buildSerializer: () => () => JSON.stringify }
}

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
