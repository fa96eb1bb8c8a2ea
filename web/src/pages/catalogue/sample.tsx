import type { ReactNode } from 'react'

export function Sample({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className="min-w-0">
      <h2 className="mb-2 text-label font-medium text-faint">{name}</h2>
      <div className="flex flex-wrap items-center gap-3 rounded-card border border-line bg-bg p-4">
        {children}
      </div>
    </section>
  )
}
