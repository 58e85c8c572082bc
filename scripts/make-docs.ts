/** Makes the generated reference pages (`npm run docs`); tests beside their sources fail when a page has drifted. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { settingsPage } from '../config/print.ts'
import { ruleNodes } from '../nodes/catalogue.ts'
import { ruleNodesPage } from '../nodes/reference-page.ts'

const reference = resolve(import.meta.dirname, '..', 'docs', 'reference')
await mkdir(reference, { recursive: true })
await writeFile(join(reference, 'settings.md'), settingsPage())
await writeFile(join(reference, 'rule-nodes.md'), ruleNodesPage(ruleNodes))
