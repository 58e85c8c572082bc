/** What is refused of a script's text before anything compiles it. Source: `rule-engine.md` 6.1 to 6.3. */
import { ScriptErrors } from '../errors.ts'

/** A script answers at once: what waits is refused where it is written, with its place. */
const FORBIDDEN = new Set(['async', 'await', 'Promise', 'setTimeout'])

/** Comments, texts and names, in the order in which a reader meets them. */
const TOKENS =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|[A-Za-z_$][\w$]*/g

/** Throws `SCRIPT_BODY` for a blank or over-long text, `SCRIPT_SYNTAX` for a forbidden name. */
export function checkSource(body: string, limit: number): void {
  if (body.trim() === '') throw ScriptErrors.SCRIPT_BODY({ reason: 'blank' })
  if (body.length > limit) {
    throw ScriptErrors.SCRIPT_BODY({ reason: `${body.length} characters long, at most ${limit} are allowed` })
  }
  for (const { 0: token, index } of body.matchAll(TOKENS)) {
    if (!FORBIDDEN.has(token)) continue
    const before = body.slice(0, index)
    const line = before.split('\n').length
    const column = index - before.lastIndexOf('\n')
    throw ScriptErrors.SCRIPT_SYNTAX({ line, column, reason: `'${token}' is not allowed in a script` })
  }
}
