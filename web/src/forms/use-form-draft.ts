import { useEffect, useRef } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { draftOf, dropDraft, keepDraft } from '../parts/drafts.ts'
import type { FormValues, SchemaField } from './schema-fields.ts'

interface Kept<Base> {
  values: FormValues
  /** What the form was filled from, for those who must know whether it changed since. */
  base: Base
}

/** Environment variables, headers and free JSON may hold secrets: they are kept in memory alone. */
const SECRETIVE: readonly SchemaField['kind'][] = ['map', 'json']

/** The settings without what may be secret. */
export function withoutSecrets<T>(fields: readonly SchemaField[], values: Readonly<Record<string, T>>) {
  const secretive = new Set(fields.filter(({ kind }) => SECRETIVE.includes(kind)).map(({ name }) => name))
  return Object.fromEntries(Object.entries(values).filter(([name]) => !secretive.has(name)))
}

export const formDraftOf = <Base>(name: string) => draftOf<Kept<Base>>(name)

const textOf = (values: unknown) => JSON.stringify(values)

/** Keeps what is written in a form from a schema until it is saved or undone. `first` is what the form was filled with. */
export function useFormDraft<Base>(given: {
  name: string
  fields: readonly SchemaField[]
  form: UseFormReturn<FormValues>
  first: FormValues
  base: Base
  storableBase: (base: Base) => Base
}): void {
  const { name, form } = given
  const { watch, reset, getValues } = form
  const latest = useRef(given)
  latest.current = given
  useEffect(() => {
    const kept = formDraftOf<Base>(name)
    if (kept) reset({ ...getValues(), ...kept.values }, { keepDefaultValues: true })
    const { unsubscribe } = watch((values) => {
      const { first, base, fields, storableBase } = latest.current
      if (textOf(values) === textOf(first)) dropDraft(name)
      else
        keepDraft<Kept<Base>>(name, { values: values as FormValues, base }, (all) => ({
          values: withoutSecrets(fields, all.values),
          base: storableBase(all.base),
        }))
    })
    return unsubscribe
  }, [name, reset, getValues, watch])
  const filledWith = textOf(given.first)
  useEffect(() => {
    if (textOf(getValues()) === filledWith) dropDraft(name)
  }, [name, filledWith, getValues])
}
