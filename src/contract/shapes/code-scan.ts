import Type, { type Static } from 'typebox';
import { bodyShape, count, exampleTime, list, name, orNull, printable, shape, text, time } from './fields.ts';

/** Limits of the scan of one repository. */
export const maxScans = 20;
export const maxScannedFeatures = 5000;
/** Maximum number of features in all scans of an application. Each page that shows owners reads all these features. */
export const maxScannedInAll = 10_000;
export const maxReferences = 10_000;
export const maxReferencesEach = 20;

const bounded = (most: number) => Type.String({ pattern: `^${printable}{1,${most}}$` });

const path = { ...bounded(400), description: 'Path of the file in the repository, with `/` as the separator.' };
const line = Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Line, from 1.' });

export const NewCodeScan = bodyShape(
  'NewCodeScan',
  {
    revision: Type.Optional({ ...bounded(100), description: 'Commit that was scanned.' }),
    link: Type.Optional({
      ...bounded(500),
      description:
        'Template of the address of a line: an `http` or `https` URL with `{path}`, and with `{revision}` and `{line}` if needed.',
    }),
    files: Type.Integer({ minimum: 0, maximum: 100_000_000, description: 'Number of files that were read.' }),
    features: Type.Array(
      Type.Object(
        {
          name: name('Name of the feature.'),
          count: Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'Number of places in the code.' }),
          references: Type.Array(
            Type.Object(
              {
                path,
                line,
                owners: Type.Array(bounded(100), {
                  maxItems: 8,
                  description: 'Owners of the file according to CODEOWNERS.',
                }),
              },
              { additionalProperties: false },
            ),
            { maxItems: maxReferencesEach, description: 'First places in the code.' },
          ),
        },
        { additionalProperties: false },
      ),
      {
        maxItems: maxScannedFeatures,
        description: `Features that the code names, with at most ${maxReferences} references in total.`,
      },
    ),
  },
  {
    revision: '9fceb02',
    link: 'https://git.shop.example/shop/web/blob/{revision}/{path}#L{line}',
    files: 812,
    features: [
      { name: 'checkout', count: 1, references: [{ path: 'src/cart.ts', line: 12, owners: ['@shop/checkout'] }] },
    ],
  },
);
export type NewCodeScan = Static<typeof NewCodeScan>;

const scanned = {
  repository: text('Name of the repository.'),
  revision: orNull(text('Commit that was scanned; `null` if the upload did not name a commit.')),
  scannedAt: time('Time of the upload.'),
};

const exampleScanned = { repository: 'shop/web', revision: '9fceb02', scannedAt: exampleTime };

/** The last scan of a repository. */
export const CodeScan = shape(
  'CodeScan',
  {
    ...scanned,
    files: count('Number of files that were read.'),
    features: count('Number of features that the code names.'),
    by: text('Uploader: e-mail address of the user or name of the API key at that time.'),
  },
  { ...exampleScanned, files: 812, features: 14, by: 'ci' },
);
export type CodeScan = Static<typeof CodeScan>;

const Reference = Type.Object({
  path: text('Path in the repository.'),
  line: count('Line, from 1.'),
  owners: list(text('Owners of the file according to CODEOWNERS.'), 'Owners of the file by CODEOWNERS.'),
  url: orNull(text('Address of the line at the code host; `null` if the scan has no template for addresses.')),
});

/** The places of a feature in the code of a repository, from its last scan. */
export const FeatureCode = shape(
  'FeatureCode',
  {
    ...scanned,
    count: count('Number of places; 0 if the code does not name the feature.'),
    references: list(Reference, `The first places in the code that name the feature, at most ${maxReferencesEach}.`),
    missingSince: orNull(time('Time of the first scan without the feature, if an earlier scan found it.')),
  },
  {
    ...exampleScanned,
    count: 1,
    references: [
      {
        path: 'src/cart.ts',
        line: 12,
        owners: ['@shop/checkout'],
        url: 'https://git.shop.example/shop/web/blob/9fceb02/src/cart.ts#L12',
      },
    ],
    missingSince: null,
  },
);
export type FeatureCode = Static<typeof FeatureCode>;
