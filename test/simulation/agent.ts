import { Life } from './client.ts'
import type { AgentPlan } from './plan-agents.ts'
import { START } from './scheduler.ts'
import type { World } from './world.ts'

/** A client program that is started again whenever it dies, each time with a new session. */
export class Agent {
  readonly world: World
  readonly plan: AgentPlan
  readonly name: string
  life: Life | null = null
  pausedUntil = 0
  #lives = 0

  constructor(world: World, plan: AgentPlan) {
    this.world = world
    this.plan = plan
    this.name = plan.name
  }

  clock = () => {
    const { clockOffsetMs, clockRate } = this.plan
    return Math.round(START + (this.world.scheduler.now - START) * clockRate + clockOffsetMs)
  }

  start(): void {
    this.life = new Life(this, `${this.name}-s${++this.#lives}`, this.#lives === 1)
    this.life.begin(this.life.run())
  }

  pause(ms: number): void {
    this.world.coverage.fault('client pause')
    this.pausedUntil = this.world.scheduler.now + ms
  }

  crash(life: Life, restartAfterMs: number): void {
    if (life.alive) this.world.coverage.fault('client crash')
    this.stop(life, restartAfterMs)
  }

  stop(life: Life, restartAfterMs: number): void {
    if (!life.alive) return
    life.alive = false
    this.life = null
    this.world.scheduler.after(restartAfterMs, `${this.name} starts again`, () => this.start())
  }
}
