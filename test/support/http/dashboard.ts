import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { TestApi } from '../gateway.ts';
import { newUser, type TestUser } from '../sign-in.ts';
import { openPage, readText, type WatchedPage } from './browser.ts';

/** A browser in which somebody is signed in. */
export type SignedIn = WatchedPage & { readonly user: TestUser };

/** Signs a new user of the merchant in by the form, as people do. */
export async function openDashboard(
  browser: Browser,
  api: TestApi,
  options: BrowserContextOptions & { readonly merchantId?: string; readonly path?: string } = {},
): Promise<SignedIn> {
  const { merchantId, path = '/dashboard', ...rest } = options;
  const user = await newUser(api, merchantId);
  const watched = await openPage(browser, api.origin, rest);
  await watched.page.goto(api.origin + path);
  await submitLogin(watched.page, user);
  return { ...watched, user };
}

/** Fills in the form of `/login`, and waits until the next page is there. */
export async function submitLogin(page: Page, user: Pick<TestUser, 'email' | 'password'>): Promise<void> {
  await page.getByLabel('Email').fill(user.email);
  await page.getByLabel('Password').fill(user.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname !== '/login');
}

/** The complaints of a page without those about answers that a test asked for: refusals with this status. */
export function unexpected(
  { complaints }: Pick<WatchedPage, 'complaints'>,
  ...statuses: readonly number[]
): string[] {
  return complaints.filter(
    (text) => !statuses.some((status) => text.includes(`responded with a status of ${status}`)),
  );
}

/** What somebody does at the page that is open, in few words. */
export function handsOn(signedIn: SignedIn) {
  const { page, context } = signedIn;
  return {
    main: () => readText(page.locator('main')),
    go: (name: string) => page.getByRole('link', { name }).click(),
    press: (name: string) => page.getByRole('button', { name }).click(),
    type: (label: string, text: string) => page.getByLabel(label).fill(text),
    /** Closes the tab. Nothing was complained of but refusals with these statuses; throws what was. */
    leave: async (...statuses: readonly number[]) => {
      await context.close();
      const complaints = unexpected(signedIn, ...statuses);
      if (complaints.length > 0) throw new Error(complaints.join('\n'));
    },
  };
}
