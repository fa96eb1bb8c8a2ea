import { history, historyKeymap, insertNewlineAndIndent, standardKeymap } from '@codemirror/commands'
import { EditorState, type Range, StateEffect, StateField, Transaction } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers, WidgetType } from '@codemirror/view'
import { getNonce } from 'get-nonce'
import { type Ref, useEffect, useId, useImperativeHandle, useRef } from 'react'
import { templateTheme } from '../../../forms/template-theme.ts'
import type { PlanProblem } from './plan-problems.ts'
import { taskLines } from './plan-text.ts'

export interface YamlHandle {
  /** Puts the cursor there. */
  goTo: (line: number) => void
}

interface Props {
  value: string
  onChange: (value: string) => void
  /** It is entered or left: what is behind follows at once. */
  onTurn: () => void
  problems: readonly PlanProblem[]
  /** The task of the outline: its first line is in view. */
  at: number
  ref: Ref<YamlHandle>
}

/** The plan as text, with line numbers and its problems below their lines. Tab leaves it, as it leaves every other field. */
export function YamlText(props: Props) {
  const { value, problems, at, ref } = props
  const latest = useRef(props)
  const id = useId()
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView | null>(null)
  /** Texts that were typed and did not come back as the value yet. */
  const typed = useRef<string[]>([])
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    const view = new EditorView({ parent: host.current!, state: stateFor(latest, typed, `${id}-label`) })
    editor.current = view
    return () => view.destroy()
  }, [id])
  useEffect(() => {
    const view = editor.current
    if (!view) return
    // What was typed comes back late, when more is typed already: it would take that away.
    const place = typed.current.indexOf(value)
    typed.current = typed.current.slice(place === -1 ? typed.current.length : place + 1)
    if (place === -1) follow(view, value)
  }, [value])
  useEffect(() => editor.current?.dispatch({ effects: setProblems.of(problems) }), [problems])
  useEffect(() => {
    const view = editor.current
    // While it is typed in, it scrolls by itself.
    if (!view || view.hasFocus) return
    const line = taskLines(view.state.doc.toString())[at]
    if (line === undefined) return
    const { from } = view.state.doc.line(line)
    // In the text alone: the page around it stays where it is.
    view.scrollDOM.scrollTop = at === 0 ? 0 : view.lineBlockAt(from).top - MARGIN_PX
  }, [at])
  useImperativeHandle(ref, () => ({
    goTo: (line) => {
      const view = editor.current!
      const { from } = view.state.doc.line(Math.min(line, view.state.doc.lines))
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true })
      view.focus()
    },
  }))
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <h3 className="flex h-7 items-center text-row font-medium" id={`${id}-label`}>
        YAML
      </h3>
      <div className="min-w-0" ref={host} />
    </div>
  )
}

const MARGIN_PX = 24

/** Only what differs is replaced, so that the cursor and the lines on screen stay where they were. */
function follow(view: EditorView, value: string): void {
  const before = view.state.doc.toString()
  if (before === value) return
  const most = Math.min(before.length, value.length)
  let start = 0
  while (start < most && before[start] === value[start]) start += 1
  let end = 0
  while (end < most - start && before.at(-1 - end) === value.at(-1 - end)) end += 1
  view.dispatch({
    changes: { from: start, to: before.length - end, insert: value.slice(start, value.length - end) },
    annotations: Transaction.addToHistory.of(false),
  })
}

/** It was made by `follow`, and not by typing. */
const isFollowing = (one: Transaction) => one.annotation(Transaction.addToHistory) === false

const stateFor = (latest: { readonly current: Props }, typed: { current: string[] }, label: string) =>
  EditorState.create({
    doc: latest.current.value,
    extensions: [
      EditorView.cspNonce.of(getNonce() ?? ''),
      templateTheme,
      yamlTheme,
      lineNumbers(),
      EditorView.lineWrapping,
      EditorState.tabSize.of(2),
      marks,
      history(),
      keymap.of([{ key: 'Enter', run: insertNewlineAndIndent }, ...historyKeymap, ...standardKeymap]),
      EditorView.contentAttributes.of(() => ({
        'aria-labelledby': label,
        // It scrolls, so that the keyboard has to reach it: what is editable alone does not count as that.
        tabindex: '0',
        'aria-multiline': 'true',
        ...(latest.current.problems.length > 0 ? { 'aria-invalid': 'true' } : {}),
      })),
      EditorView.domEventHandlers({
        focus: () => latest.current.onTurn(),
        blur: () => latest.current.onTurn(),
      }),
      EditorView.updateListener.of(({ docChanged, state, transactions }) => {
        if (!docChanged || transactions.some(isFollowing)) return
        const text = state.doc.toString()
        typed.current.push(text)
        latest.current.onChange(text)
      }),
    ],
  })

const yamlTheme = EditorView.theme({
  '&': { fontSize: 'var(--text-row)' },
  // Two signs stay two: a line says what is typed.
  '.cm-scroller': { lineHeight: '1.25rem', maxHeight: '64dvh', fontVariantLigatures: 'none' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--muted)', border: 'none' },
  '.cm-line': { padding: '0 12px 0 6px' },
  '.cm-problem-line': { backgroundColor: 'var(--bad-tint)' },
  '.cm-problem-words': {
    padding: '2px 12px 4px 6px',
    backgroundColor: 'var(--bad-tint)',
    color: 'var(--bad)',
    fontFamily: 'var(--font-sans)',
    whiteSpace: 'normal',
    overflowWrap: 'anywhere',
  },
})

const setProblems = StateEffect.define<readonly PlanProblem[]>()

/** Of more lines only the marks are drawn. */
const MOST_WORDS = 50

class Words extends WidgetType {
  readonly #words: string
  constructor(words: string) {
    super()
    this.#words = words
  }

  override eq(other: Words): boolean {
    return other.#words === this.#words
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('div')
    element.className = 'cm-problem-words'
    element.textContent = this.#words
    return element
  }
}

function marked(state: EditorState, problems: readonly PlanProblem[]): DecorationSet {
  const byLine = new Map<number, string[]>()
  for (const { line, words } of problems)
    if (line !== null && line <= state.doc.lines) byLine.set(line, [...(byLine.get(line) ?? []), words])
  const ranges = [...byLine].flatMap(([line, words], place): Range<Decoration>[] => {
    const { from, to } = state.doc.line(line)
    const mark = Decoration.line({ class: 'cm-problem-line' }).range(from)
    if (place >= MOST_WORDS) return [mark]
    const below = Decoration.widget({ widget: new Words(words.join(' ')), block: true, side: 1 })
    return [mark, below.range(to)]
  })
  return Decoration.set(ranges, true)
}

/** Until the server has read what is typed now, the marks move with the text. */
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, { changes, effects, state }) {
    const news = effects.find((effect) => effect.is(setProblems))
    return news ? marked(state, news.value) : set.map(changes)
  },
  provide: (field) => EditorView.decorations.from(field),
})
