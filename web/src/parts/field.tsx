import { createContext, type ReactNode, useContext, useId } from 'react'
import { Icon } from './icon.tsx'

interface FieldIds {
  id?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}

const FieldContext = createContext<FieldIds>({})

/** What an input inside a Field needs to be named and described by it. */
export const useFieldIds = () => useContext(FieldContext)

/** A label above an input, a hint below it, and its problem in words. */
export function Field(props: {
  label: ReactNode
  hint?: ReactNode
  problem?: string | null | undefined
  children: ReactNode
}) {
  const { label, hint, problem, children } = props
  const id = useId()
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  const ids: FieldIds = {
    id,
    ...(described ? { 'aria-describedby': described } : {}),
    ...(problem ? { 'aria-invalid': true } : {}),
  }
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label className="text-row font-medium" htmlFor={id}>
        {label}
      </label>
      <FieldContext value={ids}>{children}</FieldContext>
      {hint && (
        <p className="text-label text-muted" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && <FieldProblem id={`${id}-problem`}>{problem}</FieldProblem>}
    </div>
  )
}

/** What is wrong with a field, in words. */
export function FieldProblem({ id, children }: { id?: string; children: ReactNode }) {
  return (
    <p className="flex gap-1 text-label font-medium text-bad" id={id} role="alert">
      <Icon className="mt-0.5 shrink-0" name="warning" size={12} />
      <span className="min-w-0 wrap-anywhere">{children}</span>
    </p>
  )
}
