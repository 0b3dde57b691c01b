// What the helpers for web views do, case by case: run by node (bridge.test.js) and by a page in Chromium (pages.py).
// A case sets properties of `window` with `world` and calls the helpers of tocsin.js.

const equal = (actual, expected) => {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${left} is not ${right}`);
};
const platform = (name) => ({ __NGWENYA_PLATFORM__: name });

/** The fifteen cases of the marketplace's web helpers. */
export const cases = [
  ["isMobileWebView returns false in a plain browser", ({ isMobileWebView }, world) => {
    world({});
    equal(isMobileWebView(), false);
  }],
  ["isMobileWebView returns true on iOS", ({ isMobileWebView }, world) => {
    world(platform("ios"));
    equal(isMobileWebView(), true);
  }],
  ["isMobileWebView returns true on Android", ({ isMobileWebView }, world) => {
    world(platform("android"));
    equal(isMobileWebView(), true);
  }],
  ["isIOSWebView returns true only on iOS", ({ isIOSWebView }, world) => {
    world(platform("ios"));
    equal(isIOSWebView(), true);
    world(platform("android"));
    equal(isIOSWebView(), false);
  }],
  ["isAndroidWebView returns true only on Android", ({ isAndroidWebView }, world) => {
    world(platform("android"));
    equal(isAndroidWebView(), true);
    world(platform("ios"));
    equal(isAndroidWebView(), false);
  }],
  ["getMobilePlatform returns ios", ({ getMobilePlatform }, world) => {
    world(platform("ios"));
    equal(getMobilePlatform(), "ios");
  }],
  ["getMobilePlatform returns android", ({ getMobilePlatform }, world) => {
    world(platform("android"));
    equal(getMobilePlatform(), "android");
  }],
  ["getMobilePlatform returns null without a platform and for any other", ({ getMobilePlatform }, world) => {
    for (const other of [undefined, null, "", "IOS", "windows", 7, {}]) {
      world(platform(other));
      equal(getMobilePlatform(), null);
    }
  }],
  ["getNativeAuthToken returns the injected token", ({ getNativeAuthToken }, world) => {
    world({ __NGWENYA_TOKEN__: "t1" });
    equal(getNativeAuthToken(), "t1");
  }],
  ["getNativeAuthToken returns null when the token is missing, empty or no string", ({ getNativeAuthToken }, world) => {
    for (const other of [undefined, null, "", 7, {}, ["t"]]) {
      world({ __NGWENYA_TOKEN__: other });
      equal(getNativeAuthToken(), null);
    }
  }],
  ["getNativeAuthToken reads a newer token", ({ getNativeAuthToken }, world) => {
    world({ __NGWENYA_TOKEN__: "t1" });
    equal(getNativeAuthToken(), "t1");
    world({ __NGWENYA_TOKEN__: "t2" });
    equal(getNativeAuthToken(), "t2");
  }],
  ["sendBridgeMessage posts navigate with its route to the iOS handler", ({ sendBridgeMessage }, world) => {
    const posted = [];
    const ngwenyaBridge = { postMessage: (message) => posted.push(message) };
    world({ ...platform("ios"), webkit: { messageHandlers: { ngwenyaBridge } } });
    equal(sendBridgeMessage("navigate", { route: "/cart" }), true);
    equal(posted, [{ action: "navigate", route: "/cart" }]);
  }],
  ["sendBridgeMessage calls Android's method with JSON", ({ sendBridgeMessage }, world) => {
    const called = [];
    world({ ...platform("android"), NgwenyaBridge: { addToCart: (json) => called.push(json) } });
    equal(sendBridgeMessage("addToCart", { productId: "p1" }), true);
    equal(called, ['{"productId":"p1"}']);
  }],
  ["sendBridgeMessage sends an empty object without data", ({ sendBridgeMessage }, world) => {
    const [posted, called] = [[], []];
    const ngwenyaBridge = { postMessage: (message) => posted.push(message) };
    world({ ...platform("ios"), webkit: { messageHandlers: { ngwenyaBridge } } });
    equal(sendBridgeMessage("close"), true);
    world({ ...platform("android"), NgwenyaBridge: { close: (json) => called.push(json) } });
    equal(sendBridgeMessage("close"), true);
    equal([posted, called], [[{ action: "close" }], ["{}"]]);
  }],
  ["sendBridgeMessage is quiet without a bridge", ({ sendBridgeMessage }, world) => {
    const throwing = () => {
      throw new Error("gone");
    };
    const worlds = [
      {}, platform("windows"), platform("ios"), platform("android"),
      { ...platform("ios"), webkit: {} }, { ...platform("ios"), webkit: { messageHandlers: {} } },
      { ...platform("ios"), webkit: { messageHandlers: { ngwenyaBridge: { postMessage: throwing } } } },
      { ...platform("android"), NgwenyaBridge: {} }, { ...platform("android"), NgwenyaBridge: { navigate: 7 } },
      { ...platform("android"), NgwenyaBridge: { navigate: throwing } },
    ];
    for (const each of worlds) {
      world(each);
      equal(sendBridgeMessage("navigate", { route: "/" }), false);
    }
  }],
];

/** Beyond the fifteen. */
export const further = [
  ["names are configured one by one, and what is no name changes nothing", (helpers, world) => {
    const { configureBridge, getNativeAuthToken, getMobilePlatform, sendBridgeMessage } = helpers;
    try {
      configureBridge({ token: "__T__", platform: "__P__", object: "Shell", unknown: "x", handler: undefined });
      const called = [];
      world({ __T__: "t", __P__: "android", Shell: { open: (json) => called.push(json) } });
      equal([getNativeAuthToken(), getMobilePlatform(), sendBridgeMessage("open")], ["t", "android", true]);
      equal(called, ["{}"]);
    } finally {
      configureBridge({ token: "__NGWENYA_TOKEN__", platform: "__NGWENYA_PLATFORM__", object: "NgwenyaBridge" });
    }
    configureBridge(undefined);
    world(platform("ios"));
    equal(getMobilePlatform(), "ios");
  }],
  ["data that is no JSON is a refusal, not an error", ({ sendBridgeMessage }, world) => {
    const circle = {};
    circle.self = circle;
    world({ ...platform("android"), NgwenyaBridge: { open: () => {} } });
    equal(sendBridgeMessage("open", circle), false);
  }],
];

/** The names that cases set, taken away before each. */
export const used = ["__NGWENYA_TOKEN__", "__NGWENYA_PLATFORM__", "webkit", "NgwenyaBridge", "__T__", "__P__", "Shell"];
