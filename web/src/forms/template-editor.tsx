import { completionKeymap } from '@codemirror/autocomplete'
import { history, historyKeymap, redo, standardKeymap, undo } from '@codemirror/commands'
import { EditorState, Transaction } from '@codemirror/state'
import { EditorView, keymap, placeholder } from '@codemirror/view'
import { getNonce } from 'get-nonce'
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef } from 'react'
import { flushSync } from 'react-dom'
import { completions } from './template-completions.ts'
import { pills, setVariables } from './template-pills.ts'
import type { TemplateProblem, TemplateVariable } from './template-tags.ts'
import { templateTheme } from './template-theme.ts'
import { setProblems, underlines } from './template-underlines.ts'

export interface TemplateEditorHandle {
  /** Instead of what is selected. The cursor is behind it then. */
  insert: (text: string) => void
  /** Puts the cursor there. */
  goTo: (position: number) => void
  undo: () => void
  redo: () => void
}

interface Props {
  value: string
  onChange: (value: string) => void
  variables: readonly TemplateVariable[]
  /** Problems that the server reported for the value, or for one that was typed a moment ago. */
  problems: readonly TemplateProblem[]
  /** Ids of what names and describes it. */
  labelledBy: string
  describedBy: string
  empty: string
  ref: Ref<TemplateEditorHandle>
}

/** A prompt template with its variables as pills. Tab leaves it, as it leaves every other field. */
export function TemplateEditor(props: Props) {
  const { value, variables, problems, labelledBy, describedBy, ref } = props
  const latest = useRef(props)
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView | null>(null)
  useLayoutEffect(() => {
    latest.current = props
  })
  useLayoutEffect(() => {
    const view = new EditorView({ parent: host.current!, state: stateFor(latest) })
    editor.current = view
    return () => view.destroy()
  }, [])
  // With the page, and not a moment after it: what was typed in that moment would be replaced by what the page had before.
  useLayoutEffect(() => {
    const view = editor.current
    if (!view || view.state.doc.toString() === value) return
    // What others saved is not an edit of this user: undo does not bring back the previous text.
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: value },
      annotations: Transaction.addToHistory.of(false),
    })
  }, [value])
  useEffect(() => editor.current?.dispatch({ effects: setVariables.of(variables) }), [variables])
  useEffect(() => editor.current?.dispatch({ effects: setProblems.of(problems) }), [problems])
  // Its attributes are read anew with each of its updates, and with nothing else.
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are read by the editor
  useEffect(() => editor.current?.dispatch({}), [labelledBy, describedBy])
  useImperativeHandle(ref, () => handleOf(() => editor.current!), [])
  return <div className="min-w-0" ref={host} />
}

/** It took what the page has, and was not typed. */
const isFollowing = (one: Transaction) => one.annotation(Transaction.addToHistory) === false

const removesPill = ({ startState, newDoc }: Transaction) => startState.doc.length - newDoc.length > 1

const stateFor = (latest: { readonly current: Props }) =>
  EditorState.create({
    doc: latest.current.value,
    // Variables are inserted at the end until the user puts the cursor elsewhere.
    selection: { anchor: latest.current.value.length },
    extensions: [
      EditorView.cspNonce.of(getNonce() ?? ''),
      templateTheme,
      EditorView.lineWrapping,
      // Before the pills: a pill that the server objects to is underlined, too.
      underlines,
      pills,
      completions,
      // Undo brings a removed pill back on its own, however fast the user typed before.
      history({ joinToEvent: (change, isAdjacent) => isAdjacent && !removesPill(change) }),
      keymap.of([...completionKeymap, ...historyKeymap, ...standardKeymap]),
      placeholder(latest.current.empty),
      EditorView.contentAttributes.of(() => ({
        // What scrolls is reached with the keyboard: said as other elements say it, for tools that read the page.
        tabindex: '0',
        'aria-labelledby': latest.current.labelledBy,
        'aria-describedby': latest.current.describedBy,
        ...(latest.current.problems.length > 0 ? { 'aria-invalid': 'true' } : {}),
      })),
      EditorView.updateListener.of(({ docChanged, state, transactions }) => {
        // The page has each letter before the next can be typed: one that followed late would take later letters away.
        if (docChanged && !transactions.some(isFollowing))
          flushSync(() => latest.current.onChange(state.doc.toString()))
      }),
    ],
  })

const handleOf = (view: () => EditorView): TemplateEditorHandle => ({
  insert: (text) => {
    const { state } = view()
    view().dispatch(state.replaceSelection(text), { scrollIntoView: true, userEvent: 'input' })
    view().focus()
  },
  goTo: (position) => {
    const anchor = Math.min(position, view().state.doc.length)
    view().dispatch({ selection: { anchor }, scrollIntoView: true })
    view().focus()
  },
  undo: () => {
    undo(view())
    view().focus()
  },
  redo: () => {
    redo(view())
    view().focus()
  },
})
