#![allow(clippy::all, missing_docs)]
use icm_projections::text::*;
use std::time::Instant;
fn cpu() -> f64 { static T: std::sync::OnceLock<Instant> = std::sync::OnceLock::new(); T.get_or_init(Instant::now).elapsed().as_secs_f64()*1e6 }
struct R(u64);
impl R { fn n(&mut self)->u64{ self.0^=self.0<<13; self.0^=self.0>>7; self.0^=self.0<<17; self.0 }
 fn zipf(&mut self, v:f64)->u64{ let u=(self.n()>>11) as f64/(1u64<<53) as f64; (v.powf(u)) as u64 } }
fn word(n:u64)->String{ let c="bcdfghjklmnprstvz"; let v="aeiou"; let mut n=n+17; let mut s=String::new(); while n>0 { s.push(c.as_bytes()[(n%17) as usize] as char); n/=17; s.push(v.as_bytes()[(n%5) as usize] as char); n/=5; } s }
fn main(){
  let a:Vec<String>=std::env::args().collect();
  let dir=std::path::Path::new(&a[2]);
  match a[1].as_str(){
   "build"=>{ let n:u64=a[3].parse().unwrap(); let idx=TextIndex::create(dir).unwrap(); let mut r=R(88172645463325252); let t=Instant::now();
     let mut w=idx.writer().unwrap();
     for i in 0..n { let len=20+r.n()%20; let txt:Vec<String>=(0..len).map(|_| word(r.zipf(30000.0))).collect(); let txt=txt.join(" ");
       let topic=format!("proj{}/t{}", i%10, i%1000);
       let d=Doc{ordinal:i,content:&txt,topic:&topic,scope: if i%2==0 {"global"} else {"p"},stored:txt.as_bytes(),occurred_at_ms:Some(1_600_000_000_000+(i as i64)*1000_000),..Doc::default()};
       w.add_live(&d); }
     w.commit("x").unwrap(); println!("build {:?} cpu(main) {:.0}ms", t.elapsed(), cpu()/1e3);
     // small commits
     let mut idx=TextIndex::open(dir).unwrap();
     for k in 0..12u64 { let t=Instant::now(); let mut w=idx.writer().unwrap(); for i in 0..200u64 { let o=n+k*200+i; let txt=format!("small commit {} {}", word(o%300), word(o%77)); let d=Doc{ordinal:o,content:&txt,topic:"small",scope:"global",stored:txt.as_bytes(),..Doc::default()}; w.add_live(&d); if i%4==0 { w.close(&Doc{ordinal:k*977+i, content:"closed one", topic:"small", scope:"global", stored:b"x", ..Doc::default()}); } }
        w.commit("y").unwrap(); idx.reload().unwrap(); print!("{:?} ", t.elapsed()); }
     println!(); },
   "cold"=>{ let c=cpu(); let t=Instant::now(); let idx=TextIndex::open(dir).unwrap(); let o=t.elapsed(); let oc=cpu()-c; let q=TextQuery{text:&a[3],limit:10,..TextQuery::default()}; let ans=idx.search(&Tail::new(),&q,&|_|true).unwrap(); println!("open {:?} ({:.0}us cpu) total {:?} ({:.0}us cpu) hits {}", o, oc, t.elapsed(), cpu()-c, ans.hits.len()); },
   "warm"=>{ let idx=TextIndex::open(dir).unwrap(); let mut r=R(1234567); 
     let qs:Vec<String>=(0..200).map(|_| (0..std::env::var("NT").ok().and_then(|v| v.parse().ok()).unwrap_or(6)).map(|_| word(r.zipf(30000.0))).collect::<Vec<_>>().join(" ")).collect();
     let f=|name:&str, filt:TextFilter, history:bool, vis:&dyn Fn(u64)->bool| { for pass in 0..2 { let c=cpu(); let mut hits=0; for q in &qs { let q=TextQuery{text:q,limit:20,filter:filt,history}; hits+=idx.search(&Tail::new(),&q,vis).unwrap().hits.len(); } if pass==1 {println!("{name}: {:.0} us cpu/query, hits {}", (cpu()-c)/200.0, hits);} } };
     let no=TextFilter::default();
     f("plain",no,false,&|_|true); f("history",no,true,&|_|true); f("visible 1/10",no,false,&|o| o%10==0);
     f("topic narrow",TextFilter{topic:Some("proj3/t33"),..no},false,&|_|true);
     f("topic wide /",TextFilter{topic:Some("proj3/"),..no},false,&|_|true);
     f("scope half",TextFilter{scope:Some("global"),..no},false,&|_|true);
     let mut tail=Tail::new(); let mut rr=R(99); for i in 0..1000u64 { let txt:Vec<String>=(0..30).map(|_| word(rr.zipf(30000.0))).collect(); let txt=txt.join(" "); tail.add(&Doc{ordinal:10_000_000+i,content:&txt,topic:"t",scope:"global",stored:txt.as_bytes(),..Doc::default()}); }
     let c=cpu(); for q in &qs { let q=TextQuery{text:q,limit:20,..TextQuery::default()}; idx.search(&tail,&q,&|_|true).unwrap(); } println!("plain + tail 1000: {:.0}", (cpu()-c)/200.0);
   }, _=>{} }
}
