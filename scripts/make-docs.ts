/** Makes the generated reference pages (`npm run docs`); tests beside their sources fail when a page has drifted. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { settingsPage } from '../config/print.ts'

const reference = resolve(import.meta.dirname, '..', 'docs', 'reference')
await mkdir(reference, { recursive: true })
await writeFile(join(reference, 'settings.md'), settingsPage())
