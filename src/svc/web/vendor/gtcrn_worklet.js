/*!
* GTCRN
*
* MIT License
* 
* Copyright (c) 2024 Rong Xiaobin
* 
* Permission is hereby granted, free of charge, to any person obtaining a copy
* of this software and associated documentation files (the "Software"), to deal
* in the Software without restriction, including without limitation the rights
* to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
* copies of the Software, and to permit persons to whom the Software is
* furnished to do so, subject to the following conditions:
* 
* The above copyright notice and this permission notice shall be included in all
* copies or substantial portions of the Software.
* 
* THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
* IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
* FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
* AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
* LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
* OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
* SOFTWARE.
*//*!
* pffft
*
* Copyright (c) 2020  Dario Mambro ( dario.mambro@gmail.com )
* Copyright (c) 2019  Hayati Ayguen ( h_ayguen@web.de )
* Copyright (c) 2013  Julien Pommier ( pommier@modartt.com )
* 
* Copyright (c) 2004 the University Corporation for Atmospheric
* Research ("UCAR"). All rights reserved. Developed by NCAR's
* Computational and Information Systems Laboratory, UCAR,
* www.cisl.ucar.edu.
* 
* Redistribution and use of the Software in source and binary forms,
* with or without modification, is permitted provided that the
* following conditions are met:
* 
* - Neither the names of NCAR's Computational and Information Systems
* Laboratory, the University Corporation for Atmospheric Research,
* nor the names of its sponsors or contributors may be used to
* endorse or promote products derived from this Software without
* specific prior written permission.  
* 
* - Redistributions of source code must retain the above copyright
* notices, this list of conditions, and the disclaimer below.
* 
* - Redistributions in binary form must reproduce the above copyright
* notice, this list of conditions, and the disclaimer below in the
* documentation and/or other materials provided with the
* distribution.
* 
* THIS SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND,
* EXPRESS OR IMPLIED, INCLUDING, BUT NOT LIMITED TO THE WARRANTIES OF
* MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
* NONINFRINGEMENT. IN NO EVENT SHALL THE CONTRIBUTORS OR COPYRIGHT
* HOLDERS BE LIABLE FOR ANY CLAIM, INDIRECT, INCIDENTAL, SPECIAL,
* EXEMPLARY, OR CONSEQUENTIAL DAMAGES OR OTHER LIABILITY, WHETHER IN AN
* ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
* CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS WITH THE
* SOFTWARE.
*/const e=Float32Array.BYTES_PER_ELEMENT,t=16e3,n=48e3;var r=class{constructor(h,m={}){if(this.module=h,this.sampleRate=m.sampleRate??16e3,this.sampleRate!==16e3&&this.sampleRate!==48e3)throw Error(`Unsupported sample rate: ${String(this.sampleRate)}.`);if(this.frameSize=this.sampleRate===48e3?768:256,this.processNative=this.sampleRate===48e3?h._gtcrn_process_48k:h._gtcrn_process,this.state=h._gtcrn_create(),!this.state)throw Error("Failed to create GTCRN state.");if(this.inPtr=h._malloc(this.frameSize*e),this.outPtr=h._malloc(this.frameSize*e),!this.inPtr||!this.outPtr)throw this.destroy(),Error("Failed to allocate frame buffers.")}process(h){if(!this.state)throw Error("GtcrnProcessor is destroyed.");if(h.length!==this.frameSize)throw Error(`frame must have exactly ${this.frameSize} samples at ${this.sampleRate} Hz.`);return this.module.HEAPF32.set(h,this.inPtr/e),this.processNative(this.state,this.inPtr,this.outPtr),this.module.HEAPF32.slice(this.outPtr/e,this.outPtr/e+this.frameSize)}destroy(){this.inPtr&&this.module._free(this.inPtr),this.outPtr&&this.module._free(this.outPtr),this.state&&this.module._gtcrn_destroy(this.state),this.inPtr=this.outPtr=this.state=0}},i=(async function(h={}){var m,u=h,b=!0,g=typeof WorkerGlobalScope<"u";typeof process=="object"&&process.versions?.node&&process.type;var w=import.meta.url,P="";function S(c){return P+c}var y,A;if(b||g){try{P=new URL(".",w).href}catch{}g&&(A=c=>{var f=new XMLHttpRequest;return f.open("GET",c,!1),f.responseType="arraybuffer",f.send(null),new Uint8Array(f.response)}),y=async c=>{var f=await fetch(c,{credentials:"same-origin"});if(f.ok)return f.arrayBuffer();throw Error(f.status+" : "+f.url)}}console.log.bind(console);var E=console.error.bind(console),_,R=!1,H,M,B,U,L=!1;function W(){var c=B.buffer;new Int8Array(c),new Int16Array(c),U=new Uint8Array(c),new Uint16Array(c),new Int32Array(c),new Uint32Array(c),u.HEAPF32=new Float32Array(c),new Float64Array(c),new BigInt64Array(c),new BigUint64Array(c)}function D(){L=!0,F.d()}var z=0,C=null;function q(c){z++}function V(c){if(z--,z==0&&C){var f=C;C=null,f()}}function G(c){c="Aborted("+c+")",E(c),R=!0,c+=". Build with -sASSERTIONS for more info.";var f=new WebAssembly.RuntimeError(c);throw M?.(f),f}var T;function X(){return u.locateFile?S("gtcrn.wasm"):new URL("gtcrn.wasm",import.meta.url).href}function Y(c){if(c==T&&_)return new Uint8Array(_);if(A)return A(c);throw"both async and sync fetching of the wasm failed"}async function J(c){if(!_)try{var f=await y(c);return new Uint8Array(f)}catch{}return Y(c)}async function K(c,f){try{var d=await J(c);return await WebAssembly.instantiate(d,f)}catch(l){E(`failed to asynchronously prepare wasm: ${l}`),G(l)}}async function Q(c,f,d){if(!c&&typeof WebAssembly.instantiateStreaming=="function")try{var l=fetch(f,{credentials:"same-origin"});return await WebAssembly.instantiateStreaming(l,d)}catch(p){E(`wasm streaming compile failed: ${p}`),E("falling back to ArrayBuffer instantiation")}return K(f,d)}function Z(){return{a:cr}}async function rr(){function c(l,p){return F=l.exports,B=F.c,W(),or(F),V("wasm-instantiate"),F}q("wasm-instantiate");function f(l){return c(l.instance)}var d=Z();return T??(T=X()),f(await Q(_,T,d))}var I=typeof TextDecoder<"u"?new TextDecoder:void 0,tr=(c,f=0,d=NaN)=>{for(var l=f+d,p=f;c[p]&&!(p>=l);)++p;if(p-f>16&&c.buffer&&I)return I.decode(c.subarray(f,p));for(var $="";f<p;){var v=c[f++];if(!(v&128)){$+=String.fromCharCode(v);continue}var N=c[f++]&63;if((v&224)==192){$+=String.fromCharCode((v&31)<<6|N);continue}var O=c[f++]&63;if(v=(v&240)==224?(v&15)<<12|N<<6|O:(v&7)<<18|N<<12|O<<6|c[f++]&63,v<65536)$+=String.fromCharCode(v);else{var j=v-65536;$+=String.fromCharCode(55296|j>>10,56320|j&1023)}}return $},k=(c,f)=>c?tr(U,c,f):"",er=(c,f,d,l)=>G(`Assertion failed: ${k(c)}, at: `+[f?k(f):"unknown filename",d,l?k(l):"unknown function"]),sr=()=>2147483648,nr=(c,f)=>Math.ceil(c/f)*f,ar=c=>{var f=(c-B.buffer.byteLength+65535)/65536|0;try{return B.grow(f),W(),1}catch{}},ir=c=>{var f=U.length;c>>>=0;var d=sr();if(c>d)return!1;for(var l=1;l<=4;l*=2){var p=f*(1+.2/l);if(p=Math.min(p,c+100663296),ar(Math.min(d,nr(Math.max(c,p),65536))))return!0}return!1};u.wasmBinary&&(_=u.wasmBinary);function or(c){u._gtcrn_create=c.e,u._free=c.f,u._gtcrn_destroy=c.g,u._gtcrn_model_run=c.h,u._gtcrn_process=c.i,u._gtcrn_process_48k=c.j,u._malloc=c.k}var cr={a:er,b:ir},F=await rr();function x(){if(z>0){C=x;return}if(z>0){C=x;return}function c(){u.calledRun=!0,!R&&(D(),H?.(u))}c()}return x(),m=L?u:new Promise((c,f)=>{H=c,M=f}),m});const a=(h,m,u)=>{let b=new r(h,{sampleRate:m===48e3?n:t}),g=b.frameSize,w=g/u;if(g%u!==0)throw Error(`GTCRN frame size must be divisible by bufferSize. (was ${g}/${u}).`);let P=new Float32Array(g),S=new Float32Array(g),y=0,A=w-1;return{process:(E,_)=>{if(P.set(E,y*u),y===w-1)S.set(b.process(P)),_.set(S.subarray(0,u)),A=1%w;else{let R=A*u;_.set(S.subarray(R,R+u)),A=(A+1)%w}y=(y+1)%w},destroy:()=>{b.destroy()}}},o=(h,{bufferSize:m,maxChannels:u,sampleRate:b})=>{if(m!==128)throw Error(`bufferSize must be 128. (was ${m}).`);if(b!==16e3&&b!==48e3)throw Error(`GTCRN supports only ${t}Hz and ${n}Hz. (was ${b}Hz).`);let g=Array.from({length:u},()=>a(h,b,m));return{process:(w,P)=>{let S=Math.min(w.length,u);for(let y=0;y<S;y++)g[y].process(w[y],P[y])},destroy:()=>{for(let w of g)w.destroy()}}};var s=class extends AudioWorkletProcessor{constructor(h){super(),this.destroyed=!1,this.port.addEventListener("message",m=>{m.data==="destroy"&&this.destroy()}),(async()=>{let m=await i({locateFile:u=>u,wasmBinary:h.processorOptions.wasmBinary});this.processor=o(m,{bufferSize:128,maxChannels:h.processorOptions.maxChannels,sampleRate}),this.destroyed&&this.destroy()})()}process(h,m,u){return!this.destroyed&&(h.length===0||!h[0]||h[0]?.length===0||!this.processor||this.processor.process(h[0],m[0]),!0)}destroy(){this.destroyed=!0,this.processor?.destroy(),this.processor=void 0}};registerProcessor("@sapphi-red/web-noise-suppressor/gtcrn",s);
