/** The pages of people who log in. They are for everybody, as they hold nothing: what they show comes by calls that need a login. */
import { CONSOLE_FOLDERS, CONSOLE_PAGES, consoleFileAnswer, consolePageAnswer } from '../console/console.ts'
import { ApiErrors } from '../errors.ts'
import type { UndeclaredRoute } from './rows.ts'

export function consoleRoutes(): readonly UndeclaredRoute[] {
  return [
    ...CONSOLE_PAGES.map((pattern): UndeclaredRoute => {
      return {
        method: 'GET',
        pattern,
        authorities: 'public',
        undeclared: 'page',
        handle: async () => consolePageAnswer(),
      }
    }),
    fileRoute('/console/:file', ''),
    ...CONSOLE_FOLDERS.map((folder) => fileRoute(`/console/${folder}/:file`, `${folder}/`)),
  ]
}

/** Of the files in a folder of the pages. */
function fileRoute(pattern: string, folder: string): UndeclaredRoute {
  return {
    method: 'GET',
    pattern,
    authorities: 'public',
    undeclared: 'file',
    handle: async (call) => {
      const answer = await consoleFileAnswer(folder + call.parameter(0), call.header('if-none-match'))
      if (answer === undefined) throw ApiErrors.NOT_FOUND()
      return answer
    },
  }
}
