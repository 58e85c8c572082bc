/**
 * Where uWebSockets.js comes from. It is not on the registry under its own name; `@uwsjs/*` repackages the official binaries,
 * one package a platform and Node version. Version and hash are pinned here: what does not match is not installed.
 */
export const UWS_VERSION = '20.51.4'

export interface UwsPackage {
  readonly name: string
  /** Subresource-integrity hash of the package's archive; absent where nobody has verified one yet. */
  readonly integrity?: string
}

/** By `process.platform`-`process.arch`, for Node 22 (the runtime pinned in package.json). */
export const UWS_PACKAGES: Readonly<Record<string, UwsPackage>> = {
  'linux-x64': {
    name: '@uwsjs/linux-x64-22',
    integrity: 'sha512-oGfpSkeEV/CCgJpmKNYV8uTvS1jk6TZw4cZ82eR1ZVk9jrJI2sL/wb/Vvw0tqx3GFsprNFLPwVXVS0BMdMyNwg==',
  },
  'linux-arm64': { name: '@uwsjs/linux-arm64-22' },
  'darwin-arm64': { name: '@uwsjs/darwin-arm64-22' },
  'darwin-x64': { name: '@uwsjs/darwin-x64-22' },
}

/** Folder (below the project's root) that the install step fills and `server/uws-binding.ts` loads. */
export const UWS_FOLDER = '.tools/uWebSockets.js'
