import { sha256 } from './checksums.ts';
import { type Layer, packLayer } from './deb.ts';
import { createTar, type PackageFile } from './tar.ts';
import { type Target, targets } from './targets.ts';

/** User of the container. A number lets an orchestrator verify that it is not root. */
const user = 65532;
const data = '/var/lib/flagmeter';

/** Files and folders that the image adds to the packages, such as the list of users and the data directory. */
const own: readonly PackageFile[] = [
  { path: 'etc/passwd', content: `root:x:0:0::/root:/bin/bash\nflagmeter:x:${user}:${user}::${data}:/bin/bash\n` },
  { path: 'etc/group', content: `root:x:0:\nflagmeter:x:${user}:\n` },
  { path: 'etc/nsswitch.conf', content: 'hosts: files dns\n' },
  { path: 'tmp', content: undefined, mode: 0o1777 },
  { path: data.slice(1), content: undefined, mode: 0o700, owner: user },
];

/** Requests /healthz in bash, because the image has no HTTP client. */
const healthCheck = `exec 3<> /dev/tcp/127.0.0.1/8080 && printf 'GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == 'HTTP/1.1 200'* ]]`;

const seconds = 1e9;

/** Settings of the container, as the image specification of OCI names them. */
const config = {
  User: `${user}:${user}`,
  ExposedPorts: { '8080/tcp': {}, '8081/tcp': {} },
  Env: [
    'PATH=/usr/bin:/bin',
    `FLAGMETER_DATA=${data}`,
    'FLAGMETER_LISTEN=0.0.0.0:8080',
    'FLAGMETER_GRPC_LISTEN=0.0.0.0:8081',
  ],
  Entrypoint: ['/usr/bin/flagmeter'],
  Cmd: ['serve', '--existing'],
  Volumes: { [data]: {} },
  StopSignal: 'SIGTERM',
  // An extension of Docker, which other programs ignore.
  Healthcheck: {
    Test: ['CMD', 'bash', '-c', healthCheck],
    Interval: 10 * seconds,
    Timeout: 5 * seconds,
    StartPeriod: 30 * seconds,
  },
};

/** Layers of one platform: Debian's packages, and the files that flagmeter's package installs. */
export interface Platform {
  readonly target: Target;
  readonly layers: readonly Layer[];
}

/**
 * Builds the image of all platforms as an archive in OCI's image layout. The archive is not compressed, because its
 * layers are.
 */
export function makeImage(platforms: readonly Platform[], version: string, epoch: number): Buffer {
  const blobs = new Map<string, Buffer>();
  const add = (mediaType: string, bytes: Buffer) => {
    const digest = sha256(bytes);
    blobs.set(digest, bytes);
    return { mediaType: `application/vnd.oci.image.${mediaType}`, digest: `sha256:${digest}`, size: bytes.length };
  };
  const addJson = (mediaType: string, value: object) => add(mediaType, Buffer.from(JSON.stringify(value)));
  const names = packLayer(createTar('.', own, epoch), false);
  const manifests = platforms.map(({ target, layers }) => {
    const all = [...layers, names];
    const platform = { architecture: targets[target].debian, os: 'linux' };
    const manifest = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: addJson('config.v1+json', {
        created: new Date(epoch * 1000).toISOString(),
        ...platform,
        config,
        rootfs: { type: 'layers', diff_ids: all.map(({ diffId }) => `sha256:${diffId}`) },
      }),
      layers: all.map(({ compressed }) => add('layer.v1.tar+zstd', compressed)),
    };
    return { ...addJson('manifest.v1+json', manifest), platform };
  });
  const index = (listed: readonly object[]) => ({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: listed,
  });
  const name = `localhost/flagmeter:${version}`;
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name };
  const all = { ...addJson('index.v1+json', index(manifests)), annotations };
  const files = [
    { path: 'oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' },
    { path: 'index.json', content: JSON.stringify(index([all])) },
    ...Array.from(blobs, ([digest, content]) => ({ path: `blobs/sha256/${digest}`, content })),
  ];
  return createTar('', files, epoch);
}
