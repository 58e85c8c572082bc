import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './metrics.ts'

test('metrics show the figures of every part as they are when asked, beside those of Node', async () => {
  const figures = { framesWaiting: 3, writtenBytesTotal: 10 }
  const metrics = createMetrics([{ name: 'link', figures: () => figures }])
  assert.match(await metrics.render('public'), /^millrace_link_frames_waiting 3$/m)
  figures.framesWaiting = 2
  figures.writtenBytesTotal = 25
  const text = await metrics.render('public')
  assert.match(text, /^millrace_link_frames_waiting 2$/m)
  assert.match(text, /^millrace_link_written_bytes_total 25$/m)
  assert.match(text, /^nodejs_eventloop_lag_seconds /m)
  assert.match(metrics.contentType, /^text\/plain/)
})

test('a figure that only grows is a counter to Prometheus, any other a gauge', async () => {
  const metrics = createMetrics([{ name: 'link', figures: () => ({ pending: 1, storedTotal: 2 }) }])
  const text = await metrics.render('public')
  assert.match(text, /^# TYPE millrace_link_pending gauge$/m)
  assert.match(text, /^# TYPE millrace_link_stored_total counter$/m)
})

test('issue-8 2.14: ids of tenants and rule chains are shown to the operator alone', async () => {
  const tenant = '784f394c-42b6-435a-983c-b7beff2784f9'
  const samples = () => [
    { figure: 'pool_threads', labels: { pool: 'javascript' }, value: 1 },
    { figure: 'tenant_errors_total', labels: { pool: 'javascript', tenant }, value: 2 },
    { figure: 'queue_held', labels: { queue: `Main.${tenant}` }, value: 3 },
  ]
  const metrics = createMetrics([{ name: 'worker', figures: () => ({}), samples }])
  const [open, whole] = await Promise.all([metrics.render('public'), metrics.render('operator')])
  assert.ok(!open.includes(tenant))
  assert.match(open, /^millrace_worker_pool_threads\{pool="javascript"\} 1$/m)
  assert.match(
    whole,
    new RegExp(`^millrace_worker_tenant_errors_total\\{pool="javascript",tenant="${tenant}"\\} 2$`, 'm'),
  )
  assert.match(whole, new RegExp(`^millrace_worker_queue_held\\{queue="Main.${tenant}"\\} 3$`, 'm'))
  assert.match(whole, /^millrace_worker_pool_threads\{pool="javascript"\} 1$/m)
})
