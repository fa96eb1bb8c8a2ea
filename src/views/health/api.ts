import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { CoordinatorHealth, HealthAnswer } from '../coordinator/shapes.ts'

/** Checks that need no key, and metrics, which do. */

export const checkLive = endpoint({
  method: 'GET',
  path: '/health/live',
  summary: 'Check that the process is running',
  tag: 'health',
  needs: 'nothing',
  answer: HealthAnswer,
})

export const checkReady = endpoint({
  method: 'GET',
  path: '/health/ready',
  summary: 'Check that the database responds and takes writes',
  tag: 'health',
  needs: 'nothing',
  answer: HealthAnswer,
})

export const checkCoordinator = endpoint({
  method: 'GET',
  path: '/health/coordinator',
  summary: 'Check that a node coordinates',
  tag: 'health',
  needs: 'nothing',
  status: [200, 503],
  answer: CoordinatorHealth,
})

export const readMetrics = endpoint({
  method: 'GET',
  path: '/metrics',
  summary: 'Read the metrics of this node, in the text format of Prometheus',
  description: 'Those of all nodes together only on the node that coordinates. docs/metrics.md lists them.',
  tag: 'health',
  needs: 'metrics',
  answer: z.string(),
  mediaTypes: ['text/plain'],
})
