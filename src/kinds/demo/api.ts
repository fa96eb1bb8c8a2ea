import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { Title } from '../../pure/shapes.ts'
import { MissionView } from '../mission/shapes/missions.ts'

/** The demonstration. */

const DemoBody = z.strictObject({ title: Title.optional() })
const DemoAnswer = MissionView.extend({ missionId: z.string() })

export const startDemo = endpoint({
  method: 'POST',
  path: '/demo',
  summary: 'Start the demonstration: a mission whose agents follow scripts; it waits for a person twice',
  tag: 'missions',
  needs: 'operate',
  body: DemoBody,
  bodyIsOptional: true,
  status: 201,
  answer: DemoAnswer,
})
