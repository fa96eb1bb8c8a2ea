import type { Allowed } from '../../notifications/browser.ts'
import { muteKind, switchOff, switchOn, useNotifications } from '../../notifications/choice.ts'
import { Switch } from '../../parts/switch.tsx'
import { INBOX_TABS, type InboxTab, TAB_WORDS } from '../../things/inbox/kinds.ts'

const ABOUT: Record<InboxTab, string> = {
  approvals: 'Plans to approve, and outcomes of missions to accept.',
  questions: 'What an agent asks.',
  results: 'Work that a person reviews.',
  budgets: 'What stopped because its budget is spent.',
  problems: 'Alerts, agents in error, and tasks that are out of attempts or that nobody takes.',
  finished: 'Missions that have ended. They wait for nobody.',
}

const WHY_NOT: Record<Allowed, string | null> = {
  granted: null,
  default: 'The browser will ask whether this page may.',
  denied:
    'The browser blocks notifications of this page. Allow them in its settings for this site, then load the page again.',
  impossible:
    'This browser shows no notifications of this page: it must be served over https, or from this machine, and on phones pages may show none.',
}

/** What this browser tells of while the page is not in view. */
export function NotificationSettings() {
  const { allowed, isTelling, muted } = useNotifications()
  const isRefused = allowed === 'denied' || allowed === 'impossible'
  return (
    <div className="flex max-w-prose flex-col gap-6">
      <section className="rounded-card border border-line bg-raised p-4 shadow-card">
        <h2 className="mb-3 text-title font-semibold">Notifications</h2>
        <div className="flex items-start justify-between gap-6">
          <div>
            <p className="text-row font-medium">Notify me of what waits</p>
            <p className="text-label text-muted">
              While no tab of the workspace is in view. A tab must be open. {WHY_NOT[allowed]}
            </p>
          </div>
          <Switch
            checked={isTelling}
            disabled={isRefused}
            label="Notify me of what waits"
            onChange={(isOn) => (isOn ? void switchOn() : switchOff())}
          />
        </div>
      </section>
      <section className="rounded-card border border-line bg-raised p-4 shadow-card">
        <h2 className="mb-3 text-title font-semibold">Of these</h2>
        <ul className="flex flex-col gap-4">
          {INBOX_TABS.map((tab) => (
            <li className="flex items-start justify-between gap-6" key={tab}>
              <div>
                <p className="text-row font-medium">{TAB_WORDS[tab]}</p>
                <p className="text-label text-muted">{ABOUT[tab]}</p>
              </div>
              <Switch
                checked={!muted.includes(tab)}
                label={TAB_WORDS[tab]}
                onChange={(isOn) => muteKind(tab, !isOn)}
              />
            </li>
          ))}
        </ul>
      </section>
    </div>
  )
}
