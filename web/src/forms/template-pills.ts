import { type EditorState, type Extension, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view'
import { ICONS } from '../theme/icons.ts'
import { pillText, type TemplateTag, type TemplateVariable, tagsIn } from './template-tags.ts'

/** Known variables as pills: one step for the cursor, removed as a whole. Unknown ones stay text that can be corrected. */

const SVG = 'http://www.w3.org/2000/svg'

function warningSign(): SVGElement {
  const sign = document.createElementNS(SVG, 'svg')
  const path = document.createElementNS(SVG, 'path')
  for (const [name, value] of Object.entries({ viewBox: '0 0 16 16', 'aria-hidden': 'true' }))
    sign.setAttribute(name, value)
  path.setAttribute('d', ICONS.warning)
  sign.append(path)
  return sign
}

class Pill extends WidgetType {
  readonly #tag: TemplateTag
  readonly #variable: TemplateVariable

  constructor(tag: TemplateTag, variable: TemplateVariable) {
    super()
    this.#tag = tag
    this.#variable = variable
  }

  override eq(other: Pill): boolean {
    return (
      other.#variable === this.#variable &&
      other.#tag.sigil === this.#tag.sigil &&
      other.#tag.name === this.#tag.name
    )
  }

  override toDOM(): HTMLElement {
    const { sensitive, description } = this.#variable
    const isSection = this.#tag.sigil !== ''
    const pill = document.createElement('span')
    const kind = isSection ? 'cm-section' : sensitive ? 'cm-sensitive' : ''
    pill.className = `cm-pill ${kind}`
    pill.title = `${this.#tag.sigil}${this.#tag.name}: ${description}`
    if (sensitive && !isSection) pill.append(warningSign())
    pill.append(pillText(this.#tag))
    if (sensitive && !isSection) pill.setAttribute('aria-label', `${pillText(this.#tag)}, sensitive`)
    return pill
  }

  /** A click beside a pill puts the cursor there. */
  override ignoreEvent(): boolean {
    return false
  }
}

export const setVariables = StateEffect.define<readonly TemplateVariable[]>()

export const knownVariables = StateField.define<readonly TemplateVariable[]>({
  create: () => [],
  update: (known, { effects }) =>
    effects.reduce((before, effect) => (effect.is(setVariables) ? effect.value : before), known),
})

function drawn(state: EditorState): DecorationSet {
  const known = new Map(state.field(knownVariables).map((variable) => [variable.path, variable]))
  const pills = tagsIn(state.doc.toString()).flatMap((tag) => {
    const variable = known.get(tag.name)
    return variable ? [Decoration.replace({ widget: new Pill(tag, variable) }).range(tag.from, tag.to)] : []
  })
  return Decoration.set(pills)
}

const drawnPills = StateField.define<DecorationSet>({
  create: drawn,
  update: (pills, { docChanged, effects, state }) =>
    docChanged || effects.some((effect) => effect.is(setVariables)) ? drawn(state) : pills,
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.atomicRanges.of((view) => view.state.field(field)),
  ],
})

export const pills: Extension = [knownVariables, drawnPills]
