/**
 * Builds LMDB's add-on from the source that lmdb brings, in its "data v1" flavour: LMDB as its authors wrote it.
 *
 * The add-on that npm installs holds a rewritten free list, which refuses some commits for ever once many pages were freed
 * (MDB_BAD_TXN, "reserved freelist had a data entry with zero-size"): a service that rolls old buckets up meets that.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';

const root = import.meta.dir;
const lmdb = join(root, 'node_modules/lmdb');
const library = join(lmdb, 'dependencies/lmdb-data-v1/libraries/liblmdb');
const lz4 = join(lmdb, 'dependencies/lz4/lib');

const binding = [
  'lmdb-js',
  'writer',
  'env',
  'compression',
  'ordered-binary',
  'misc',
  'txn',
  'dbi',
  'cursor',
  'v8-functions',
];
/** Neither Node nor Bun can lock a file, so the one add-on that there is does it too; and it is kept quiet. */
const own = ['glibc-2.34.c', 'try-lock.cpp', 'quiet.c', 'check-pages.c'].map((name) =>
  join(root, 'native', name),
);
const sources = [
  ...binding.map((name) => join(lmdb, 'src', `${name}.cpp`)),
  join(library, 'mdb.c'),
  join(library, 'midl.c'),
  join(lz4, 'lz4.c'),
  ...own,
];

/**
 * The threads of a process must share one environment: POSIX locks are the process's, so a second one would set the lock
 * file up anew beneath the first. The binding has LMDB ask it for the environment that is open already, but only of the
 * rewritten LMDB; this lets the other one ask too. Each text is put behind the one place that its anchor is at.
 */
const mends: readonly Mend[] = [
  {
    file: join(library, 'lmdb.h'),
    anchor: 'typedef struct MDB_env MDB_env;',
    text: 'void mdb_env_set_callback(MDB_env *env, int (*find)(mdb_filehandle_t, MDB_env *));',
  },
  {
    file: join(library, 'mdb.c'),
    anchor: 'struct MDB_env {',
    text: 'int (*me_callback)(HANDLE, MDB_env *);',
  },
  {
    file: join(library, 'mdb.c'),
    anchor: 'rc = mdb_fopen(env, fname, MDB_O_LOCKS, mode, &env->me_lfd);',
    text: 'if (!rc && env->me_callback && (rc = env->me_callback(env->me_lfd, env))) return rc;',
  },
  {
    file: join(library, 'mdb.c'),
    anchor: '#endif /* defined(_WIN32) */\n/** @} */',
    text: 'void mdb_env_set_callback(MDB_env *env, int (*find)(HANDLE, MDB_env *)) { env->me_callback = find; }',
  },
  {
    file: join(lmdb, 'src/env.cpp'),
    anchor: 'flags |= MDB_NOTLS;',
    text: 'mdb_env_set_callback(env, checkExistingEnvs);',
  },
  ...pageChecks(),
  {
    file: join(lmdb, 'src/lmdb-js.cpp'),
    anchor: 'Object InitAll(Napi::Env env, Object exports) {',
    text: 'void addTryLock(Napi::Env, Napi::Object); addTryLock(env, exports);',
  },
];

/** A text, and the one place of a file that it is put behind. */
interface Mend {
  readonly file: string;
  readonly anchor: string;
  readonly text: string;
}

/** Has LMDB look at what it takes from its file before it follows it: see `native/check-pages.c`. */
function pageChecks(): readonly Mend[] {
  const file = join(library, 'mdb.c');
  const fail = 'txn->mt_flags |= MDB_TXN_ERROR; return MDB_CORRUPTED;';
  return [
    {
      file,
      anchor: '#include "midl.h"',
      text: `extern const size_t flagmeter_map_bytes;
int flagmeter_page_is_whole(unsigned char *, const char *, const void *, size_t, size_t, size_t);
int flagmeter_value_is_whole(const char *, const void *, size_t, size_t);
int flagmeter_list_is_whole(const char *, const void *, size_t, const void *, size_t, size_t);
void flagmeter_note_damage(const char *, size_t);
void flagmeter_end(const char *, const char *);`,
    },
    { file, anchor: 'struct MDB_env {', text: 'unsigned char *me_whole;' },
    {
      file,
      anchor: 'e->me_maxreaders = DEFAULT_READERS;',
      text: 'e->me_whole = calloc(flagmeter_map_bytes, 1);',
    },
    { file, anchor: 'mdb_env_close0(env, 0);', text: 'free(env->me_whole);' },
    {
      file,
      anchor: 'level = 0;\n\t\tp = (MDB_page *)(env->me_map + env->me_psize * pgno);',
      text: `if (!flagmeter_page_is_whole(env->me_whole, env->me_path, p, pgno, env->me_psize, txn->mt_next_pgno)) { ${fail} }`,
    },
    {
      file,
      anchor: 'DPRINTF(("page %"Z"u not found", pgno));',
      text: 'flagmeter_note_damage(env->me_path, pgno);',
    },
    {
      file,
      anchor: 'DPRINTF(("read overflow page %"Z"u failed", pgno));\n\t\treturn rc;\n\t}',
      text: `MDB_txn *txn = mc->mc_txn; if (!flagmeter_value_is_whole(txn->mt_env->me_path, omp, data->mv_size, txn->mt_env->me_psize)) { ${fail} }`,
    },
    {
      file,
      anchor: 'if ((rc = mdb_node_read(&m2, leaf, &data)) != MDB_SUCCESS)\n\t\t\tgoto fail;',
      text: 'if (!flagmeter_list_is_whole(env->me_path, np, NODEKSZ(leaf), data.mv_data, data.mv_size, txn->mt_next_pgno)) { rc = MDB_CORRUPTED; goto fail; }',
    },
    {
      file,
      anchor: `sprintf(buf, "%.100s:%d: Assertion '%.200s' failed in %.40s()",\n\t\tfile, line, expr_txt, func);`,
      text: 'flagmeter_end(env->me_path, buf);',
    },
    {
      file: join(lmdb, 'src/misc.cpp'),
      anchor: '#include "lmdb-js.h"',
      text: 'extern "C" const char *flagmeter_damage(const char *);',
    },
    {
      file: join(lmdb, 'src/misc.cpp'),
      anchor: 'Error error = Error::New(env, mdb_strerror(rc));',
      text: 'if (rc == MDB_CORRUPTED || rc == MDB_PAGE_NOTFOUND || rc == MDB_BAD_TXN) error = Error::New(env, flagmeter_damage(mdb_strerror(rc)));',
    },
  ];
}

/** What lmdb's own binding.gyp compiles with, without the parts that only V8 can run. */
const flags = [
  '-O3',
  '-w',
  '-fPIC',
  '-fvisibility=hidden',
  '-fno-builtin-fprintf', // So that every call is one: see native/quiet.c.
  '-DMDB_MAXKEYSIZE=0',
  '-DMDB_USE_ROBUST',
  '-DNAPI_DISABLE_CPP_EXCEPTIONS',
  '-DBUILDING_NODE_EXTENSION',
];

/**
 * Compiles the add-on, unless that was done before with the same sources and flags.
 * @param target as in `build.ts`; the compilers are those of `CC` and `CXX`, else `gcc` and `g++`
 * @param native whether the add-on is for this machine, so that Node, too, is to find it
 * @returns its path
 * @throws {Error} when there is no compiler, or it fails
 */
export async function buildLmdb(target: string, native: boolean): Promise<string> {
  const folder = join(root, 'dist/lmdb', target);
  const addon = join(folder, 'lmdb.node');
  const stamp = join(folder, 'stamp');
  const { CC = 'gcc', CXX = 'g++' } = process.env;
  const { version } = JSON.parse(readFileSync(join(lmdb, 'package.json'), 'utf8')) as { version: string };
  const ours = own.map((path) => readFileSync(path, 'utf8'));
  const wanted = JSON.stringify([version, CC, CXX, flags, linking, ours, mends.map(({ text }) => text)]);
  if (!(existsSync(addon) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted)) {
    mkdirSync(join(folder, 'source'), { recursive: true });
    // One source includes this header of Node without a use for it; those of Node-API have none of the name.
    writeFileSync(join(folder, 'source/node_version.h'), '');
    mend(join(folder, 'source'));
    await compile(folder, addon, CC, CXX);
    writeFileSync(stamp, wanted);
    console.error(addon.slice(root.length + 1));
  }
  if (native) offerToNode(addon);
  return addon;
}

/** Writes the files that have mends into a folder. @throws {Error} when an anchor is not there once: lmdb has changed */
function mend(folder: string): void {
  for (const path of new Set(mends.map(({ file }) => file))) {
    let source = readFileSync(path, 'utf8');
    for (const { anchor, text } of mends.filter(({ file }) => file === path)) {
      const [before, after, ...more] = source.split(anchor);
      if (before === undefined || after === undefined || more.length > 0) {
        throw new Error(`Cannot mend ${path}: "${anchor}" must be there once; look at what changed in lmdb`);
      }
      source = `${before}${anchor}\n${text}\n${after}`;
    }
    writeFileSync(join(folder, basename(path)), source);
  }
}

async function compile(folder: string, addon: string, cc: string, cxx: string): Promise<void> {
  const includes = [
    join(folder, 'source'),
    join(lmdb, 'src'),
    dirname(createRequire(join(lmdb, 'package.json')).resolve('node-addon-api/package.json')),
    join(root, 'node_modules/node-api-headers/include'),
    lz4,
    library,
  ].map((path) => `-I${path}`);
  const objects = sources.map((source) => join(folder, `${basename(source)}.o`));
  const waiting = sources.map((source, index) => {
    const mended = join(folder, 'source', basename(source));
    return [existsSync(mended) ? mended : source, objects[index]!] as const;
  });
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [source, object] = next;
      const compiler = source.endsWith('.cpp') ? [cxx, '-std=c++17'] : [cc];
      await run([...compiler, ...flags, ...includes, '-c', source, '-o', object]);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  await run([cxx, '-shared', '-s', '-o', addon, ...objects, ...linking]);
}

/**
 * The C++ runtime is linked in, so that the machine needs none. What of it nothing uses is left out: that would ask for a
 * newer glibc (`arc4random`, 2.36).
 */
const linking =
  process.platform === 'darwin'
    ? ['-undefined', 'dynamic_lookup']
    : [
        '-static-libstdc++',
        '-static-libgcc',
        '-lpthread',
        '-Wl,--gc-sections',
        '-Wl,--exclude-libs,ALL',
        '-Wl,--wrap=fprintf',
      ];

/** lmdb looks for an add-on here before it takes the one that npm installed. */
function offerToNode(addon: string): void {
  const folder = join(lmdb, 'build/Release');
  mkdirSync(folder, { recursive: true });
  // A process that has loaded the one before keeps it whole.
  copyFileSync(addon, join(folder, 'lmdb.node.new'));
  renameSync(join(folder, 'lmdb.node.new'), join(folder, 'lmdb.node'));
}

function run([command = '', ...args]: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', () =>
      reject(
        new Error(
          `Cannot run ${command}, which LMDB is compiled with: install it (Debian: apt-get install gcc g++), or name another in CC and CXX`,
        ),
      ),
    );
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`Cannot compile LMDB: ${command} ended with ${code}`)),
    );
  });
}
