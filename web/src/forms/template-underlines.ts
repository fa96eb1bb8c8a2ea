import { StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view'
import { rangeOf, type TemplateProblem } from './template-tags.ts'

/** What the server objects to, underlined where it says. Until it has read what is typed now, the lines move with the text. */

export const setProblems = StateEffect.define<readonly TemplateProblem[]>()

const underlined = (text: string, problems: readonly TemplateProblem[]): DecorationSet =>
  Decoration.set(
    problems
      .map((problem) => ({ ...rangeOf(text, problem), message: problem.message }))
      .filter(({ from, to }) => to > from)
      .map(({ from, to, message }) =>
        Decoration.mark({ class: 'cm-problem', attributes: { title: message } }).range(from, to),
      ),
    true,
  )

export const underlines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lines, { changes, effects, state }) {
    const set = effects.find((effect) => effect.is(setProblems))
    return set ? underlined(state.doc.toString(), set.value) : lines.map(changes)
  },
  provide: (field) => EditorView.decorations.from(field),
})
