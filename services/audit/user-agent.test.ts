import assert from 'node:assert/strict'
import { test } from 'node:test'
import { programOf } from './user-agent.ts'

const MOZILLA = 'Mozilla/5.0'
const KIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'

for (const [userAgent, browser, os, device] of [
  [
    `${MOZILLA} (Windows NT 10.0; Win64; x64) ${KIT} Chrome/126.0.6478.61 Safari/537.36`,
    'Chrome 126.0.6478',
    'Windows 10',
    'Other',
  ],
  [
    `${MOZILLA} (Windows NT 10.0; Win64; x64) ${KIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.56`,
    'Edge 126.0.2592',
    'Windows 10',
    'Other',
  ],
  [`${MOZILLA} (X11; Ubuntu; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0`, 'Firefox 128.0', 'Ubuntu', 'Other'],
  [
    `${MOZILLA} (X11; Linux x86_64) ${KIT} HeadlessChrome/126.0.0.0 Safari/537.36`,
    'HeadlessChrome 126.0.0',
    'Linux',
    'Other',
  ],
  [
    `${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15`,
    'Safari 17.5',
    'Mac OS X 10.15.7',
    'Mac',
  ],
  [
    `${MOZILLA} (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1`,
    'Mobile Safari 17.5',
    'iOS 17.5.1',
    'iPhone',
  ],
  [
    `${MOZILLA} (Linux; Android 14; Pixel 8) ${KIT} Chrome/126.0.0.0 Mobile Safari/537.36`,
    'Chrome Mobile 126.0.0',
    'Android 14',
    'Pixel 8',
  ],
  ['curl/8.5.0', 'curl 8.5.0', 'Other', 'Other'],
  ['node', 'Other', 'Other', 'Other'],
  ['', 'Unknown', 'Unknown', 'Unknown'],
] as const)
  test(`is read of ${userAgent === '' ? 'nothing' : userAgent}`, () =>
    assert.deepEqual(programOf(userAgent), { browser, os, device }))

test('costs little, whatever is sent', () => {
  const began = process.cpuUsage()
  for (let count = 0; count < 100; count++) programOf('Mobile Version/1 Android 1; '.repeat(10_000))
  assert.ok(process.cpuUsage(began).user < 1_000_000)
})
