/** Seven line drawings for empty states, 96 by 72, lines of 1.5 in two tones: what is at rest, and what moves. */
export const DRAWINGS = {
  /** A baton between two hands: nothing waits. */
  handover: {
    stands: 'M6 52c8-2 14-6 19-13M90 20c-8 2-14 6-19 13M6 60c11-1 19-5 25-12M90 12C79 13 71 17 65 24',
    moves: 'M27 46l36-28M31 51l36-28M27 46c-2 2 2 7 4 5M63 18c2-2 6 3 4 5',
  },
  /** Empty columns: no tasks yet. */
  columns: {
    stands: 'M8 10h22v52H8zM37 10h22v52H37zM66 10h22v52H66z',
    moves: 'M13 16h12v9H13zM42 16h12v9H42zM13 31h12v9H13zM71 47l5 5 8-10',
  },
  /** A tray with nothing in it: the inbox. */
  tray: {
    stands: 'M10 40l10-26h56l10 26v20H10zM10 40h22c2 8 8 12 16 12s14-4 16-12h22',
    moves: 'M34 26h28M38 33h20M48 4v10M43 9l5 5 5-5',
  },
  /** A terminal that waits: no runs. */
  terminal: {
    stands: 'M10 10h76v52H10zM10 20h76M16 15h.1M21 15h.1M26 15h.1',
    moves: 'M20 32l8 7-8 7M34 46h18',
  },
  /** A path over hills to a flag: no missions. */
  path: {
    stands: 'M4 62c14-22 24-22 34-8 10-26 22-30 54 8M4 62h88',
    moves: 'M66 36V12l14 5-14 5M14 58c8-4 14-2 20 0s14 0 18-6 8-12 14-16',
  },
  /** Coins that grow towards a limit: no budgets. */
  coins: {
    stands:
      'M16 32h40a5 5 0 0 1 0 10H16a5 5 0 0 1 0-10zM16 42h40a5 5 0 0 1 0 10H16a5 5 0 0 1 0-10zM16 52h40a5 5 0 0 1 0 10H16a5 5 0 0 1 0-10z',
    moves: 'M8 12h10M26 12h10M44 12h10M62 12h10M80 12h8M76 58V24M70 30l6-6 6 6',
  },
  /** A magnifier over lines: nothing matches. */
  search: {
    stands: 'M10 16h44M10 28h26M10 40h22M10 52h30',
    moves: 'M72 36a16 16 0 1 1-32 0 16 16 0 0 1 32 0zM68 47l16 15M50 36h12',
  },
} as const

export type DrawingName = keyof typeof DRAWINGS
