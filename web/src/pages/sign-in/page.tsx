import { type FormEvent, useEffect, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { useDocumentTitle } from '../../parts/document-title.ts'
import { explain } from '../../parts/explain.ts'
import { Field } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { Wordmark } from '../../parts/wordmark.tsx'
import { signIn } from '../../requests/session.ts'
import { allSignedIn } from '../../requests/signed-in.ts'
import { given, tokenIn, wayBack } from './address.ts'

/** The token is used once, and does not stay in the address or in the browser's history. */
function takeToken(): string | null {
  const token = tokenIn(location.hash)
  if (token !== null) history.replaceState(null, '', location.pathname + location.search)
  return token
}

function enter(given: { token: string } | { key: string }): Promise<void> {
  const back = new URLSearchParams(location.search).get('back')
  return signIn(given).then((workspace) => location.replace(wayBack(back, workspace)))
}

export function SignIn() {
  useDocumentTitle('Sign in')
  return (
    // It scrolls inside itself, as all pages do.
    <div className="h-dvh overflow-y-auto">
      <main className="mx-auto flex min-h-full w-full max-w-104 flex-col justify-center gap-6 px-4 py-12">
        <Wordmark />
        {/* Before anything is sent: over plain http, others on the way could read it. */}
        {isSecureContext ? <SignInHere /> : <NotSecure />}
      </main>
    </div>
  )
}

function NotSecure() {
  return (
    <>
      <div>
        <h1 className="text-page font-semibold">Sign in over https</h1>
        <p className="mt-1 text-body text-muted">
          This page came over plain http, so others on the network could read your key and take over your
          session. Open Baton through a proxy with TLS, or through a tunnel to its machine:
        </p>
      </div>
      <Copyable isBlock text={`ssh -N -L 4400:127.0.0.1:${location.port || 80} ${location.hostname}`} />
      <p className="text-label text-muted">Then open http://127.0.0.1:4400 in this browser.</p>
    </>
  )
}

function SignInHere() {
  const [isTrying, setIsTrying] = useState(() => tokenIn(location.hash) !== null)
  const [refusal, setRefusal] = useState<unknown>(null)
  useEffect(() => {
    // The address has it once, also where React runs effects twice: a second use would be refused.
    const takeLink = () => {
      const token = takeToken()
      if (token === null) return
      setIsTrying(true)
      enter({ token }).catch((error: unknown) => {
        setRefusal(error)
        setIsTrying(false)
      })
    }
    takeLink()
    // A link that is opened while this page is shown changes its address, and loads nothing.
    addEventListener('hashchange', takeLink)
    return () => removeEventListener('hashchange', takeLink)
  }, [])
  return isTrying ? (
    <>
      <h1 className="text-page font-semibold">Signing in</h1>
      <Skeleton label="Signing in" rows={3} />
    </>
  ) : (
    <Ways refusal={refusal} />
  )
}

function Ways({ refusal }: { refusal: unknown }) {
  const signedIn = allSignedIn()
  return (
    <>
      <div>
        <h1 className="text-page font-semibold">Sign in</h1>
        <p className="mt-1 text-body text-muted">
          Baton has no passwords. A link signs this browser in; it works once.
        </p>
      </div>
      {refusal != null && <Refusal error={refusal} />}
      <section>
        <h2 className="mb-2 text-row font-medium">Get a link</h2>
        <Copyable isBlock text="npm run link" />
        <p className="mt-2 text-label text-muted">
          Run it where the server runs, in Baton's folder. It prints a link that works for ten minutes. The
          server printed one when it was first started.
        </p>
      </section>
      <KeyForm />
      {signedIn.length > 0 && (
        <section>
          <h2 className="mb-2 text-row font-medium">This browser is signed in to</h2>
          <ul className="flex flex-col gap-1">
            {signedIn.map(({ id, name }) => (
              <li key={id}>
                <a
                  className="inline-flex items-center gap-1 font-medium text-accent hover:underline"
                  href={`/w/${id}`}
                >
                  {name}
                  <Icon name="arrow-right" size={14} />
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Refusal({ error }: { error: unknown }) {
  const { title, detail, code } = explain(error)
  const isRefused = code === 'UNAUTHENTICATED' || code === 'VALIDATION_FAILED'
  return (
    <div className="flex gap-3 rounded-card border border-line bg-bad-tint p-3 text-bad" role="alert">
      <Icon className="mt-0.5" name="warning" />
      <div className="min-w-0 text-row">
        <p className="font-medium">{isRefused ? 'This link no longer works' : title}</p>
        <p className="mt-0.5">
          {isRefused ? 'A link works once, for ten minutes. Get a new one with the command below.' : detail}
        </p>
      </div>
    </div>
  )
}

function KeyForm() {
  const [key, setKey] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (key.trim() === '' || isBusy) return
    setIsBusy(true)
    setProblem(null)
    enter(given(key)).catch((error: unknown) => {
      const { title, detail, code } = explain(error)
      // What the title of this refusal says, that a valid key is needed, its detail says of this one.
      setProblem(code === 'UNAUTHENTICATED' && detail ? detail : [title, detail].filter(Boolean).join('. '))
      setIsBusy(false)
    })
  }
  return (
    <form className="flex flex-col gap-3 border-t border-line pt-6" onSubmit={submit}>
      <Field
        hint="It is sent once and not kept in this browser."
        label="Or paste the link or an API key"
        problem={problem}
      >
        <TextInput
          autoComplete="off"
          onChange={(event) => setKey(event.target.value)}
          spellCheck={false}
          type="password"
          value={key}
        />
      </Field>
      <Button busy={isBusy} className="self-start" kind="primary" type="submit">
        Sign in
      </Button>
    </form>
  )
}
