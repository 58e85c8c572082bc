import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Browser } from './browser.ts'
import { requireTool } from './require-tool.ts'

test('what a page draws anew between the look and the act is looked at once more', async (context) => {
  if (!requireTool(context, 'chromedriver')) return
  const browser = await Browser.start()
  try {
    await browser.open('data:text/html,<main><button>press</button><input></main>')
    const draw =
      "document.querySelector('main').innerHTML = '<button onclick=\"this.textContent = `pressed`\">press</button><input>'"
    const [button, input] = [await browser.named('press'), await browser.find('input')]
    await browser.run(draw)
    await button.click()
    assert.match(await browser.sees('pressed'), /^pressed/)
    await input.type('said')
    assert.equal(await browser.run("return document.querySelector('input').value"), 'said')
    await browser.run(draw)
    assert.equal(await button.text(), 'press')
  } finally {
    await browser.close()
  }
})
