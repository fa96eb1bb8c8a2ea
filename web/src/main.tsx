import { setNonce } from 'get-nonce'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './theme/tokens.css'
import { App } from './app.tsx'
import { listenToKeys } from './keys/shortcuts.ts'
import { SignIn } from './pages/sign-in/page.tsx'
import { lastWorkspace, leaveToSignIn, signedInTo, workspaceInAddress } from './requests/signed-in.ts'
import { followTheme } from './theme/theme-choice.ts'

// What Radix writes into the page needs the nonce of the policy that this page was sent with.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.content
if (nonce) setNonce(nonce)
followTheme()
listenToKeys()

const show = (what: ReactNode) =>
  createRoot(document.getElementById('root')!).render(<StrictMode>{what}</StrictMode>)

function open(): void {
  const workspace = workspaceInAddress()
  if (location.pathname === '/sign-in') show(<SignIn />)
  else if (workspace !== null && signedInTo(workspace)) show(<App workspace={workspace} />)
  else if (workspace !== null) leaveToSignIn()
  else leaveToWorkspace()
}

/** "/board" is the board of the workspace that was open last. */
function leaveToWorkspace(): void {
  const last = lastWorkspace()
  const path = location.pathname === '/' ? '' : location.pathname
  location.replace(last ? `/w/${last.id}${path}${location.search}` : '/sign-in')
}

if (import.meta.env.DEV && location.pathname === '/parts')
  import('./pages/catalogue/page.tsx').then(({ Parts }) => show(<Parts />))
else open()
