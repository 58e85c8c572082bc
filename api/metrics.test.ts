import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './metrics.ts'

test('metrics show the figures of every part as they are when asked, beside those of Node', async () => {
  let waiting = 3
  const metrics = createMetrics([{ name: 'link', figures: () => ({ framesWaiting: waiting, bytes: 10 }) }])
  assert.match(await metrics.render(), /^millrace_link_frames_waiting 3$/m)
  waiting = 4
  const text = await metrics.render()
  assert.match(text, /^millrace_link_frames_waiting 4$/m)
  assert.match(text, /^millrace_link_bytes 10$/m)
  assert.match(text, /^nodejs_eventloop_lag_seconds /m)
  assert.match(metrics.contentType, /^text\/plain/)
})
