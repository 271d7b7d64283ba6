import { join } from 'node:path';
import { expect, it } from 'vitest';
