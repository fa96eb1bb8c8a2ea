import type { ReactNode } from 'react'
import { picosOf } from '../../../../src/pure/money.ts'
import { Button } from '../../parts/button.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Money } from '../../parts/money.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { countText } from '../../parts/wording.ts'
import { DayChart } from './day-chart.tsx'
import { GROUPS, type Group, PERIODS_BACK, type PeriodBack } from './search.ts'
import { UsageTable } from './usage-table.tsx'
import { everyDay, GROUP_WORDS, measureOf, type UsageTotal, WINDOW } from './usage-words.ts'
import type { useUsage } from './use-usage.ts'

/** What was used, in groups: a tab for each way to group it. */
export function UsageSection(props: {
  by: Group
  window: PeriodBack
  usage: ReturnType<typeof useUsage>
  onShow: (next: { by?: Group; window?: PeriodBack }) => void
}) {
  const { by, window, onShow } = props
  const { read, download } = props.usage
  return (
    <section aria-labelledby="what-was-used" className="flex flex-col gap-3">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="text-title font-semibold" id="what-was-used">
          What was used
        </h2>
        <div className="ml-auto flex flex-wrap items-center gap-2">
          <Segmented
            label="Window"
            onChange={(next) => onShow({ window: next })}
            options={PERIODS_BACK.map((value) => ({ value, words: WINDOW[value].short }))}
            value={window}
          />
          <Button
            aria-label={`Save what was used by ${GROUP_WORDS[by].column.toLowerCase()} as CSV`}
            busy={download.isBusy}
            icon="download"
            kind="quiet"
            onClick={() => download.run()}
            size="small"
          >
            CSV
          </Button>
        </div>
      </header>
      <Tabs
        className="[&>[role=tabpanel]]:pt-4"
        label="Grouped by"
        onChange={(next) => onShow({ by: next })}
        tabs={GROUPS.map((name) => ({ name, words: GROUP_WORDS[name].tab }))}
        value={by}
      >
        <Loaded read={read} rowHeight={36} rows={6}>
          {(usage) =>
            usage.total.tokensUsed === 0 && usage.items.length === 0 ? (
              <p className="py-4 text-muted">Nothing was used in {WINDOW[window].last}.</p>
            ) : (
              <div className="flex flex-col gap-5">
                <Totals savedUsd={usage.savedUsd} total={usage.total} />
                {by === 'day' && <DayChart days={everyDay(usage)} measure={measureOf(usage.total)} />}
                <UsageTable
                  group={by}
                  items={by === 'day' ? [...usage.items].reverse() : usage.items}
                  total={usage.total}
                />
                {usage.groupsLeftOut > 0 && (
                  <p className="text-row text-muted">
                    {countText(usage.groupsLeftOut)} smaller ones are not listed; the totals have them.
                  </p>
                )}
              </div>
            )
          }
        </Loaded>
      </Tabs>
    </section>
  )
}

const isSome = (usd: string | null) => usd !== null && picosOf(usd) !== 0n

/** The figures of the whole window. Input from the cache stands apart, and so does what nobody pays by use. */
function Totals({ total, savedUsd }: { total: UsageTotal; savedUsd: string | null }) {
  const { costUsd, notionalUsd, tokens, seconds, runs, runsOfUnknownCost } = total
  return (
    <dl className="flex flex-wrap gap-x-10 gap-y-3">
      <Figure
        label="Cost"
        note={
          runsOfUnknownCost > 0 &&
          costUsd !== null &&
          `and unknown for ${countText(runsOfUnknownCost)} of ${countText(runs)} runs`
        }
      >
        <Money usd={costUsd} />
      </Figure>
      {isSome(notionalUsd) && (
        <Figure label="Notional" note="not paid by use, at list prices">
          <Money usd={notionalUsd} />
        </Figure>
      )}
      {/* What a program says it cost may be more than the list says of the dearest model. */}
      {savedUsd !== null && picosOf(savedUsd) > 0n && (
        <Figure label="Saved" note="against the dearest of the models">
          <Money usd={savedUsd} />
        </Figure>
      )}
      {seconds > 0 && (
        <Figure label="Time of runs">
          <Duration ms={seconds * 1_000} />
        </Figure>
      )}
      <Figure label="Tokens in">
        <Tokens count={tokens.input} />
      </Figure>
      <Figure label="Tokens in, cached">
        <Tokens count={tokens.cachedInput} />
      </Figure>
      <Figure label="Tokens out">
        <Tokens count={tokens.output} />
      </Figure>
    </dl>
  )
}

function Figure({ label, note, children }: { label: string; note?: string | false; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-label text-muted">{label}</dt>
      <dd className="mt-0.5 text-title font-semibold tabular-nums">{children}</dd>
      {note && <dd className="text-label text-muted">{note}</dd>}
    </div>
  )
}
