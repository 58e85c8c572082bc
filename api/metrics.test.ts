import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './metrics.ts'

test('metrics show the figures of every part as they are when asked, beside those of Node', async () => {
  const figures = { framesWaiting: 3, writtenBytesTotal: 10 }
  const metrics = createMetrics([{ name: 'link', figures: () => figures }])
  assert.match(await metrics.render(), /^millrace_link_frames_waiting 3$/m)
  figures.framesWaiting = 2
  figures.writtenBytesTotal = 25
  const text = await metrics.render()
  assert.match(text, /^millrace_link_frames_waiting 2$/m)
  assert.match(text, /^millrace_link_written_bytes_total 25$/m)
  assert.match(text, /^nodejs_eventloop_lag_seconds /m)
  assert.match(metrics.contentType, /^text\/plain/)
})

test('a figure that only grows is a counter to Prometheus, any other a gauge', async () => {
  const metrics = createMetrics([{ name: 'link', figures: () => ({ pending: 1, storedTotal: 2 }) }])
  const text = await metrics.render()
  assert.match(text, /^# TYPE millrace_link_pending gauge$/m)
  assert.match(text, /^# TYPE millrace_link_stored_total counter$/m)
})
