// A page opened from a folder may not start a worker, and the search is one.  Here it runs in a hidden frame instead.
// The name is the one by which the theme's `offline` plugin knows that a shim is there, and fetches none from elsewhere.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      this.inside = frame.contentWindow;
      this.waiting = [];
      this.inside.postMessage = (data) => this.tell(data);
      this.inside.importScripts = (...urls) => Promise.all(urls.map((each) => this.load(each)));
      this.load(url).then(() => {
        for (const data of this.waiting.splice(0)) this.give(data);
        this.postMessage = this.give;
      });
    }
    load(url) {
      const script = this.inside.document.createElement("script");
      script.src = url;
      this.inside.document.documentElement.append(script);
      return new Promise((done) => { script.onload = done; });
    }
    give(data) { this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })); }
    postMessage(data) { this.waiting.push(data); }
    tell(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    terminate() {}
  };
}
