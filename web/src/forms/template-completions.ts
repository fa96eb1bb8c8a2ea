import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { knownVariables } from './template-pills.ts'
import { nameAt } from './template-tags.ts'

/** After `{{`: the variables there are. The one that is taken closes its braces. */

function variablesAt({ state, pos }: CompletionContext): CompletionResult | null {
  const place = nameAt(state.doc.toString(), pos)
  if (place === null) return null
  return {
    from: place.from,
    validFor: /^[\w.-]*$/,
    options: state.field(knownVariables).map(({ path, description, sensitive, aliasOf }) => ({
      label: path,
      detail: sensitive ? `⚠ ${description}` : description,
      // Aliases come last.
      boost: aliasOf === undefined ? 0 : -99,
      apply: (view, _, from, to) => {
        const end = Math.max(nameAt(view.state.doc.toString(), to)?.to ?? to, to)
        const insert = `${path}}}`
        view.dispatch({
          changes: { from, to: end, insert },
          selection: { anchor: from + insert.length },
          userEvent: 'input.complete',
        })
      },
    })),
  }
}

export const completions = autocompletion({
  override: [variablesAt],
  icons: false,
  maxRenderedOptions: 60,
  // The list opens only inside braces: an Enter that follows accepts it.
  interactionDelay: 0,
})
